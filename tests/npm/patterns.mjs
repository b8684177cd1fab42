// Every pattern of the document is one in JavaScript, with and without the flag u.
import { readFileSync } from "node:fs";

const compiled = [];
JSON.parse(readFileSync(process.argv[2], "utf8"), (name, value) => {
  if (name === "pattern" && typeof value === "string") compiled.push(new RegExp(value), new RegExp(value, "u"));
  return value;
});
console.log(compiled.length);
