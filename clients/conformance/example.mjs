// The client in TypeScript, compiled beside this file, as the kit runs it: a whole game against two bots of the service.
import { Annals, atRandom } from "./client.js";

const annals = new Annals(process.argv[2]);
await annals.register(`Bot ${crypto.randomUUID().slice(0, 13)}`, crypto.randomUUID(), { bot: true });
const table = await annals.open("struggle_of_empires@1", 3);
await table.seatBot(1);
await table.seatBot(2);
const seat = await table.join(0);
await seat.start();
await seat.play(atRandom);
