/**
 * One query for all who ask the same at once. Followers of a list are woken together and mostly stand at the same place, so
 * each would ask for the same page.
 *
 * A caller that asks after the list has grown shares no earlier query: it may lack the new entries.
 */
export class SharedPages<Query, Entry> {
  readonly #page: (query: Query) => Promise<readonly Entry[]>;
  readonly #underWay = new Map<string, Promise<readonly Entry[]>>();
  #generation = 0;

  constructor(page: (query: Query) => Promise<readonly Entry[]>) {
    this.#page = page;
  }

  /** Call this before any follower is woken. */
  readonly grown = (): void => {
    this.#generation += 1;
  };

  /** `place` names the query: equal ones give equal pages. */
  page(place: string, query: Query): Promise<readonly Entry[]> {
    const key = `${this.#generation} ${place}`;
    const present = this.#underWay.get(key);
    if (present) return present;
    const begun = this.#page(query).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, begun);
    return begun;
  }
}
