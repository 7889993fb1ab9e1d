/**
 * Searches a request's body for placeholders while it passes. They are filled in nowhere there: the search tells an owner of
 * programs that would have sent the secret itself. The beginning is searched in all encodings, the rest for the plain text,
 * as uploads may be long.
 */
import type { ConnectionRow } from '@lodge/ports';
import type { Budget } from '../budget.ts';
import { EchoSearch, Sought } from '../secret/echo-search.ts';

const deepBytes = 2 ** 20;
const start = 'lodge-secret-';

export class BodySearch {
  readonly #sought: Sought;
  readonly #deep: EchoSearch;
  readonly #plain: readonly string[];
  readonly #row: ConnectionRow;
  readonly #budget: Budget;
  readonly #tailBytes: number;
  #tail = Buffer.alloc(0);
  #left = deepBytes;

  constructor(placeholders: readonly string[], sought: Sought, row: ConnectionRow, budget: Budget) {
    this.#sought = sought;
    this.#deep = new EchoSearch(sought);
    this.#plain = placeholders;
    this.#row = row;
    this.#budget = budget;
    this.#tailBytes = Math.max(0, ...placeholders.map(({ length }) => length - 1));
  }

  /** Whether a placeholder ends in this chunk. */
  async push(chunk: Buffer, signal: AbortSignal): Promise<boolean> {
    const deep = chunk.subarray(0, this.#left);
    if (deep.length > 0) {
      this.#left -= deep.length;
      await this.#budget.pace(this.#row, deep.length * this.#sought.weight, signal);
      if (await this.#deep.pushInSteps(this.#row.agentId, deep)) return true;
    }
    const joined = Buffer.concat([this.#tail, chunk]);
    this.#tail = joined.subarray(Math.max(0, joined.length - this.#tailBytes));
    return joined.includes(start) && this.#plain.some((each) => joined.includes(each));
  }

  /** Whether one ends with the body. */
  end(): boolean {
    return this.#deep.end();
  }
}
