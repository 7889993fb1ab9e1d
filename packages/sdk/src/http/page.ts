/** Pages of lists: `await` gives the first, `for await` walks all entries. */

/** A page as on the wire, and the way to the next. */
export type Page<Body> = Body & {
  /** The next page; null after the last. */
  next(): Promise<Page<Body> | null>;
};

/** The body of a list. */
interface List<Item> {
  readonly data: readonly Item[];
  readonly next_cursor?: string | null;
}
export type ItemOf<Body> = Body extends { readonly data: readonly (infer Item)[] } ? Item : never;

export class Pages<Body extends List<unknown>> implements PromiseLike<Page<Body>>, AsyncIterable<ItemOf<Body>> {
  readonly #load: (cursor: string | undefined) => Promise<Body>;

  /** `load` reads the page at a cursor, or the first. Nothing is read before somebody asks. */
  constructor(load: (cursor: string | undefined) => Promise<Body>) {
    this.#load = load;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- awaiting a list gives its first page
  then<Kept = Page<Body>, Failed = never>(
    kept?: ((page: Page<Body>) => Kept | PromiseLike<Kept>) | null,
    failed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Kept | Failed> {
    return this.#page(undefined).then(kept, failed);
  }

  catch<Failed>(failed: (reason: unknown) => Failed | PromiseLike<Failed>): Promise<Page<Body> | Failed> {
    return this.#page(undefined).catch(failed);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ItemOf<Body>, void> {
    for (let page: Page<Body> | null = await this.#page(undefined); page !== null; page = await page.next()) {
      yield* page.data as readonly ItemOf<Body>[];
    }
  }

  async #page(cursor: string | undefined): Promise<Page<Body>> {
    const body = await this.#load(cursor);
    const after = body.next_cursor ?? undefined;
    // The same cursor twice would never end.
    const next = async (): Promise<Page<Body> | null> =>
      after === undefined || after === cursor ? null : this.#page(after);
    return Object.defineProperty(body, 'next', { value: next, enumerable: false }) as Page<Body>;
  }
}
