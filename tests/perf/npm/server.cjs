// A server of boardgame.io with one game: a state of R regions, of which each move changes one by a die.
// FLAT is a folder for its durable store; without one, its games are in memory. PORT is where it listens.
const { FlatFile, Server } = require("boardgame.io/server");

const REGIONS = Number(process.env.R || 10);

const game = {
  name: "regions",
  minPlayers: 2,
  maxPlayers: 7,
  disableUndo: true,
  setup: () => ({
    moves: 0,
    regions: Object.fromEntries(
      Array.from({ length: REGIONS }, (_, i) => [`r${i}`, { owner: null, units: i % 3 }]),
    ),
  }),
  moves: {
    change: {
      client: false,
      move: ({ G, random }) => {
        G.moves += 1;
        G.regions[`r${G.moves % REGIONS}`].units = random.D6();
      },
    },
  },
  turn: { minMoves: 1, maxMoves: 1 },
};

const store = process.env.FLAT ? { db: new FlatFile({ dir: process.env.FLAT }) } : {};
Server({ games: [game], origins: [/.*/], ...store }).run({ port: Number(process.env.PORT) });
