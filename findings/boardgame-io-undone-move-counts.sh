#!/usr/bin/env bash
# boardgame.io counts a move that was undone among the moves of a stage, but not among those of a turn.
#
# Version: boardgame.io 0.50.2 with Node.js 20 or newer.
# Behaviour:
# A player may make two moves, makes one and takes it back. With `maxMoves` of a turn, two are left. With `maxMoves` of a
# stage (`activePlayers`), one is left: undo restores the state, but not the count of the stage, so the stage ends early.
# Output seen: turn: 2 moves after an undo; stage: 1 move after an undo
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts boardgame.io@0.50.2
cat > run.cjs <<'NODE'
const assert = require("node:assert");
const { Client } = require("boardgame.io/client");

console.error = () => {}; // a move beyond the last one is reported there
const moves = { add: ({ G }) => { G.sum += 1; } };
const stages = { adding: { moves } };
const count = (turn, more) => {
  const client = Client({ game: { setup: () => ({ sum: 0 }), turn, ...more }, numPlayers: 2, debug: false });
  client.start();
  client.moves.add();
  client.undo();
  assert.equal(client.getState().G.sum, 0);
  let made = 0;
  while (made < 5 && client.getState().ctx.turn === 1) {
    client.moves.add();
    if (client.getState().G.sum === made) break;
    made = client.getState().G.sum;
  }
  return made;
};
const turn = count({ maxMoves: 2 }, { moves });
const stage = count({ activePlayers: { currentPlayer: "adding", maxMoves: 2 }, stages }, {});
console.log(`turn: ${turn} moves after an undo; stage: ${stage} move after an undo`);
assert.deepEqual([turn, stage], [2, 1]);
NODE
node run.cjs
