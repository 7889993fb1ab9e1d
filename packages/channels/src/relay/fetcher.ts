/**
 * Brings the files of messages onto the host. A file that cannot be fetched is described in a few words, and its message
 * goes on without it.
 */
import { LeaseLost, NoRoomError } from '@lodge/ports';
import type { FileToFetch, Log, OpenedRelayStore, RelayFiles } from '@lodge/ports';
import { TooLargeError } from '../shared/bounded.ts';
import { pause } from '../shared/backoff.ts';
import type { Held } from './held.ts';
import type { HeldChannels } from './channels.ts';
import { settled } from './settle.ts';
import type { RelayTimings } from './timings.ts';

const maxAtOnce = 8;
/** Files of other agents are fetched beside one agent's flood. */
const maxOfAgent = 2;
const maxFileBytes = 64 * 1024 * 1024;
const maxTries = 3;

export interface FetcherOptions {
  readonly store: OpenedRelayStore;
  readonly channels: HeldChannels;
  readonly files: RelayFiles;
  readonly log: Log;
  readonly timings: RelayTimings;
  readonly onEnd: () => void;
}

export class Fetcher {
  private readonly options: FetcherOptions;
  private readonly underWay = new Map<string, { readonly agentId: string; readonly work: Promise<void> }>();
  private readonly closing = new AbortController();

  constructor(options: FetcherOptions) {
    this.options = options;
  }

  async look(): Promise<void> {
    const { store, channels } = this.options;
    const free = maxAtOnce - this.underWay.size;
    if (this.closing.signal.aborted || free <= 0) return;
    const files = await store.filesToFetch(
      channels.connected.map(({ lease }) => lease),
      free,
      { perAgent: maxOfAgent, underWay: [...this.underWay.values()].map(({ agentId }) => agentId) },
    );
    for (const file of files) {
      if (this.underWay.has(file.id)) continue;
      const work = this.fetch(file)
        .catch((error: unknown) =>
          this.options.log.warn({ err: error, channel: file.channel }, 'a file was not handled'),
        )
        .finally(() => {
          this.underWay.delete(file.id);
          this.options.onEnd();
        });
      this.underWay.set(file.id, { agentId: file.agentId, work });
    }
  }

  async close(): Promise<void> {
    this.closing.abort();
    await Promise.all([...this.underWay.values()].map(({ work }) => work));
  }

  private async fetch(file: FileToFetch): Promise<void> {
    const { store, files, channels, log } = this.options;
    const held = channels.find(file);
    if (held === undefined) return;
    const signal = AbortSignal.any([
      held.signal,
      this.closing.signal,
      AbortSignal.timeout(this.options.timings.fetchMs),
    ]);
    const result = await this.result(held, file, signal);
    // The channel or this process ends: another process fetches the file.
    if (result === null) return;
    const isWritten = await settled(() => store.fetched(file, file.id, result), this.closing.signal, log);
    if (!isWritten && 'key' in result) await files.remove(result.key).catch(() => undefined);
  }

  private async result(
    held: Held,
    file: FileToFetch,
    signal: AbortSignal,
  ): Promise<{ readonly key: string; readonly bytes: number } | { readonly reason: string } | null> {
    if (file.attempts >= maxTries) return { reason: 'it could not be fetched' };
    const maxBytes = Math.min(maxFileBytes, held.platform.limits.fileInBytes);
    const owner = { accountId: held.lease.accountId, agentId: file.agentId, way: 'in' } as const;
    for (let tries = 1; ; tries += 1) {
      try {
        const bytes = await held.connection!.open(file.ref, maxBytes, signal);
        return await this.options.files.write(owner, bytes, maxBytes, signal);
      } catch (error) {
        if (held.signal.aborted || this.closing.signal.aborted || error instanceof LeaseLost) return null;
        if (error instanceof NoRoomError) return { reason: 'there is no room for it' };
        if (error instanceof TooLargeError || error instanceof RangeError) return { reason: 'it is too large' };
        if (signal.aborted || tries === maxTries) return { reason: 'it could not be fetched' };
        await pause(1_000 * tries, signal);
      }
    }
  }
}
