// A whole game by the client in TypeScript, compiled beside this file; a line for each question, then how it ended.
import { Annals, atRandom } from "./client.js";

const [address, wanted] = process.argv.slice(2);
const annals = new Annals(address);
const { codes } = await annals.register("Tess", "a river of green glass", { bot: true });
const table = await annals.open("struggle_of_empires@1", 3);
await table.seatBot(1);
await table.seatBot(2);
const seat = await table.join(0);
await seat.start();
let asked = 0;
await seat.play((board, choice) => {
  asked += 1;
  console.log(asked === Number(wanted) ? "kill" : "asked");
  return atRandom(board, choice);
});
const later = new Annals(address);
await later.recover("Tess", codes[0], "seven slow white horses");
for await (const game of later.myGames()) console.log(`status ${game.status}`);
console.log(`final ${(await seat.scores().catch((error) => error)).code}`); // its session ended with the recovery
console.log(await later.table(seat.game, "0").export());
