// What a client may rely on: unions are told apart by one member, and what is optional is optional.
import type { components, paths } from "./annals";

type Schemas = components["schemas"];
type Body<Path extends keyof paths> = paths[Path] extends {
  post: { requestBody: { content: { "application/json": infer Content } } };
}
  ? Content
  : never;

export function cities(board: Schemas["Board"]): number {
  switch (board.ruleset) {
    case "struggle_of_empires@1":
      return Object.keys(board.public.markers).length;
    case "seven_empires@1":
      return Object.keys(board.public.palaces).length;
    default:
      return board.seats.length;
  }
}

export function paid(fact: Schemas["StruggleOfEmpires1Fact"]): number {
  // @ts-expect-error: not every fact has gold
  fact.gold;
  return fact.t === "gold_paid" ? fact.gold : 0;
}

export function opened(entry: Schemas["Entry"]): string[] {
  return (entry.facts ?? []).map((fact) => (fact.t === "asked" ? fact.kind : fact.t));
}

export function asks(decision: Schemas["Egc1Decision"]): string {
  return decision.kind === "orders" ? "orders" : decision.id;
}

export function data(event: Schemas["StreamEvent"]): number {
  switch (event.event) {
    case "board":
      return event.data.at;
    case "patch":
      return event.data.version - event.data.from;
    case "timeline":
      return event.data.version;
    case "message":
      return event.data.entry;
    case "motion":
    case "proposal":
      return event.data.consents.length;
    case "end":
    case "bye":
      return event.data.version;
    default: {
      const none: never = event;
      return none;
    }
  }
}

export function seed(record: Schemas["Record"]): string | undefined {
  return record.kind === "closed" ? record.body?.seed : undefined;
}

export const table: Body<"/v1/games"> = { ruleset: "egc@1", seats: 10 };
export const move: Body<"/v1/games/{game}/moves"> = { move: { type: "pass_bid" }, decision: "0-1" };
export const codes: Schemas["ProblemCode"][] = ["stale_version", "not_your_decision"];
export const status: Schemas["Board"]["status"] = "running";

// @ts-expect-error: no such type of move
export const wrong: Schemas["Move"] = { type: "nonsense" };
