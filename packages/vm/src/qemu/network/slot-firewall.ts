import { run } from './commands.ts';

/**
 * The firewall of one slot's namespace, as it is reached from outside. A namespace that an older release made lacks chains and sets that are changed or read here:
 * then this release's own are put there first, in one transaction with the change. Doing so where nothing is missing changes nothing.
 */
export class SlotFirewall {
  readonly namespace: string;
  private readonly renewed: () => Promise<string>;

  /** `namespace`: its path; `renewed`: text of this release's chains for it. */
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

  /** `nft -j -nn list …`, in its own words. */
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

  /** What failed because something is missing is done once more, the other way; it tells its own failure when that is none. */
  private whole<T>(work: () => Promise<T>, again: () => Promise<T>): Promise<T> {
    return work().catch((error: Error) => {
      if (!error.message.includes('No such file or directory')) throw error;
      return again().catch(() => {
        throw error;
      });
    });
  }
}
