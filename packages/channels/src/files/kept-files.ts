/** Counts the files that accounts keep in the folder, by agent and account, as files come and go. */
import { Shares } from '@lodge/domain';
import type { Holder } from '@lodge/domain';
import { NoRoomError } from '@lodge/ports';

export interface KeptBounds {
  readonly bytesOfAgent: number;
  readonly bytesOfAccount: number;
  readonly filesOfAgent: number;
  readonly filesOfAccount: number;
}

/** Room of one file that is being written. */
export interface Reserved {
  /** Throws a `NoRoomError` if so many more bytes are not available. */
  take(bytes: number): void;
  /** Gives the room back, because the file is not stored. A stored file counts until it is removed. */
  giveBack(): void;
  /** Ends the growth of the file. */
  end(): void;
}

/** Parses a name: the account's folder and the agent's tag, then the bytes, and the random part. */
const keptPattern = /^([0-9a-f]{16})(\/[0-9a-f]{16})\.([0-9]{1,12})\.[0-9a-f]{32}$/;

export class KeptFiles {
  private readonly files: Shares;
  private readonly bytes: Shares;
  private readonly bytesOfAgent: number;
  private readonly keys: () => AsyncIterable<readonly string[]>;
  private counted: Promise<void> | null = null;
  private promised = 0;

  /** `keys` returns those of all existing files; it is called once, before the first of them is written or removed. */
  constructor(bounds: KeptBounds, keys: () => AsyncIterable<readonly string[]>) {
    const { bytesOfAgent, bytesOfAccount, filesOfAgent, filesOfAccount } = bounds;
    // The disk is the bound on the total.
    const all = { inAll: Infinity, few: 0 };
    this.files = new Shares({ perAgent: filesOfAgent, perAccount: filesOfAccount, ...all });
    this.bytes = new Shares({ perAgent: bytesOfAgent, perAccount: bytesOfAccount, ...all });
    this.bytesOfAgent = bytesOfAgent;
    this.keys = keys;
  }

  /**
   * The most bytes that running transfers may still add. Their bytes on the disk count here as well until they are whole.
   */
  get promisedBytes(): number {
    return this.promised;
  }

  /** `place` is `<folder>/<agent>`. Rejects with a `NoRoomError` if there are too many files. */
  async reserve(place: string, maxBytes: number): Promise<Reserved> {
    await this.count();
    const holder = holderOf(place);
    if (!this.files.take(holder, 1)) throw new NoRoomError();
    const promised = Math.min(maxBytes, this.bytesOfAgent);
    this.promised += promised;
    let taken = 0;
    return {
      take: (bytes) => {
        if (!this.bytes.take(holder, bytes)) throw new NoRoomError();
        taken += bytes;
      },
      giveBack: () => {
        this.files.giveBack(holder, 1);
        this.bytes.giveBack(holder, taken);
      },
      end: () => {
        this.promised -= promised;
      },
    };
  }

  /** `remove` returns whether the file existed: one that two callers remove is given back once. */
  async removing(key: string, remove: () => Promise<boolean>): Promise<void> {
    await this.count();
    if (!(await remove())) return;
    const file = read(key);
    if (file === null) return;
    this.files.giveBack(file.holder, 1);
    this.bytes.giveBack(file.holder, file.bytes);
  }

  private count(): Promise<void> {
    this.counted ??= this.countAll().catch((error: unknown) => {
      this.counted = null;
      throw error;
    });
    return this.counted;
  }

  private async countAll(): Promise<void> {
    const files: NonNullable<ReturnType<typeof read>>[] = [];
    for await (const keys of this.keys()) files.push(...keys.flatMap((key) => read(key) ?? []));
    for (const { holder, bytes } of files) {
      this.files.count(holder, 1);
      this.bytes.count(holder, bytes);
    }
  }
}

const holderOf = (place: string): Holder => ({ accountId: place.slice(0, place.indexOf('/')), agentId: place });

/** Null for a file that does not count: one that a crash left half written, or one without a folder. */
function read(key: string): { readonly holder: Holder; readonly bytes: number } | null {
  const [, folder, agent, bytes] = keptPattern.exec(key) ?? [];
  return bytes === undefined ? null : { holder: holderOf(`${folder}${agent}`), bytes: Number(bytes) };
}
