// Plays so many matches at once on a server of boardgame.io, each with so many moves, and prints the moves a second.
// Two seats of a match move in turn; each waits until it has the update of the other's move.
const { Client } = require("boardgame.io/client");
const { SocketIO } = require("boardgame.io/multiplayer");

const SERVER = `http://127.0.0.1:${process.env.PORT}`;
const game = {
  name: "regions",
  setup: () => ({}),
  moves: { change: { move: () => {}, client: false } },
  turn: { minMoves: 1, maxMoves: 1 },
};

async function post(path, body) {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(SERVER + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function seat(matchID, playerID) {
  const body = { playerID, playerName: `p${playerID}` };
  const { playerCredentials } = await post(`/games/regions/${matchID}/join`, body);
  const multiplayer = SocketIO({ server: SERVER });
  return Client({ game, matchID, playerID, credentials: playerCredentials, multiplayer, debug: false });
}

async function open() {
  const { matchID } = await post("/games/regions/create", { numPlayers: 2 });
  const clients = [await seat(matchID, "0"), await seat(matchID, "1")];
  for (const client of clients) client.start();
  while (!clients.every((client) => client.getState())) await new Promise((next) => setTimeout(next, 5));
  return clients;
}

function play(clients, moves) {
  return new Promise((end) => {
    let made = 0;
    let seen = -1;
    const step = (i) => (state) => {
      if (state?._stateID === undefined || Number(state.ctx.currentPlayer) !== i || state._stateID <= seen) return;
      seen = state._stateID;
      if (made === moves) {
        for (const client of clients) client.stop();
        end();
        return;
      }
      made += 1;
      clients[i].moves.change();
    };
    clients.forEach((client, i) => client.subscribe(step(i)));
    const state = clients[0].getState();
    step(Number(state.ctx.currentPlayer))(state);
  });
}

(async () => {
  const [tables, moves] = process.argv.slice(2).map(Number);
  await play(await open(), 50); // the compiler has seen it all by then
  const matches = await Promise.all(Array.from({ length: tables }, open));
  const begun = performance.now();
  await Promise.all(matches.map((clients) => play(clients, moves)));
  const seconds = (performance.now() - begun) / 1000;
  console.log(JSON.stringify({ moves_per_s: (tables * moves) / seconds }));
  process.exit(0);
})();
