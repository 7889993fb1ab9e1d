import { run } from './commands.ts';

/**
 * The firewall of one slot's namespace, reached from outside. A namespace of an older release lacks chains and sets that are
 * changed or read here. This release's own are then added first, in one transaction with the change. If nothing is missing,
 * adding them changes nothing.
 */
export class SlotFirewall {
  readonly namespace: string;
  private readonly renewed: () => Promise<string>;

  /** `namespace` is its path; `renewed` returns text of this release's chains for it. */
  constructor(namespace: string, renewed: () => Promise<string>) {
    this.namespace = namespace;
    this.renewed = renewed;
  }

  /** Applies nft text in one transaction. */
  apply(text: string): Promise<void> {
    return this.whole(
      () => this.nft(text),
      async () => this.nft((await this.renewed()) + text),
    );
  }

  /** Returns the output of `nft -j -nn list …`. */
  list(...what: readonly string[]): Promise<string> {
    const list = (): Promise<string> =>
      run('nsenter', [`--net=${this.namespace}`, 'nft', '-j', '-nn', 'list', ...what]);
    return this.whole(list, async () => {
      await this.nft(await this.renewed());
      return list();
    });
  }

  private async nft(text: string): Promise<void> {
    await run('nsenter', [`--net=${this.namespace}`, 'nft', '-f', '-'], text);
  }

  /** Repeats a call that failed because something is missing, with the missing parts; otherwise the first failure counts. */
  private whole<T>(work: () => Promise<T>, again: () => Promise<T>): Promise<T> {
    return work().catch((error: Error) => {
      if (!error.message.includes('No such file or directory')) throw error;
      return again().catch(() => {
        throw error;
      });
    });
  }
}
