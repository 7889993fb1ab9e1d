/**
 * Names of models as the ledger has them. A guest may make up names without end, and sums of usage have rows by name: beyond
 * so many new ones of an agent in a day, calls are written under one name.
 */
const namesPerDay = 200;
const dayMs = 86_400_000;
/** Beyond this number of agents, those that called least recently are forgotten. */
const maxAgents = 10_000;

/** The model name of calls whose agent has too many names. */
export const otherModel = 'other';

export class ModelNames {
  readonly #agents = new Map<string, { readonly until: number; readonly names: Set<string> }>();

  /** `nowMs` is of any clock, the same each time. */
  nameOf(agentId: string, provider: string, model: string, nowMs: number): string {
    const before = this.#agents.get(agentId);
    const known = before && nowMs < before.until ? before : { until: nowMs + dayMs, names: new Set<string>() };
    this.#agents.delete(agentId);
    this.#agents.set(agentId, known);
    if (this.#agents.size > maxAgents) this.#agents.delete(this.#agents.keys().next().value!);
    const name = `${provider}/${model}`;
    if (!known.names.has(name) && known.names.size >= namesPerDay) return otherModel;
    known.names.add(name);
    return model;
  }
}
