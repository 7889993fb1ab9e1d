/**
 * For tests: what channels stand on, over a real store, with platforms that say yes to all credentials but `bad` ones. `openLodge`
 * takes the check alone; planes, which have no files and no relays, take all of it.
 */
/* oxlint-disable no-restricted-imports -- only tests import this file */
import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import type { ChannelParts } from '@lodge/engine';
import { ChannelFailure } from '@lodge/ports';
import type { ChannelCheck, ChannelFiles, FileOwner, GuestFiles } from '@lodge/ports';

/** A platform whose bots are named by their token: `<bot>:<secret>`. */
export class FakeCheck implements ChannelCheck {
  /** Nothing answers. */
  isDown = false;
  readonly asked: string[] = [];
  readonly numbers: string[] = [];
  /** So often there is no connection yet that could be asked by a number. */
  notOpen = 0;

  async verify(channel: string, credentials: Readonly<Record<string, string>>) {
    if (credentials['botToken'] === undefined) return null;
    this.asked.push(channel);
    if (this.isDown) throw new ChannelFailure({ code: 'platform_unreachable', message: 'It does not answer.' });
    const bot = credentials['botToken'].split(':')[0]!;
    if (bot === 'bad') throw new ChannelFailure({ code: 'invalid_credentials', message: 'The botToken is not known.' });
    return { identity: { id: bot, name: `bot ${bot}` }, accountKey: bot };
  }

  async pairByNumber(_agentId: string, _channel: string, phoneNumber: string): Promise<boolean> {
    if (this.notOpen > 0) {
      this.notOpen -= 1;
      return false;
    }
    this.numbers.push(phoneNumber);
    return true;
  }
}

/** Bytes on their way, in memory. */
export class MemoryFiles implements ChannelFiles {
  readonly kept = new Map<string, Buffer>();

  async write(_owner: FileOwner, bytes: AsyncIterable<Uint8Array>, maxBytes: number) {
    const whole = await buffer(bytes);
    if (whole.length > maxBytes) throw new Error('too long');
    const key = randomUUID();
    this.kept.set(key, whole);
    return { key, bytes: whole.length };
  }

  read(key: string): AsyncIterable<Uint8Array> {
    const bytes = this.kept.get(key);
    return Readable.from(bytes === undefined ? Readable.from([]).destroy(new Error('it is gone')) : [bytes]);
  }

  async remove(key: string): Promise<void> {
    this.kept.delete(key);
  }

  async olderThan(): Promise<readonly string[]> {
    return [];
  }
}

/** No guest has files. */
export const noGuestFiles: GuestFiles = {
  write: () => Promise.reject(new Error('there is no guest')),
  read: () => Promise.reject(new Error('there is no guest')),
};

export const channelParts = (changes: Partial<ChannelParts> = {}): ChannelParts => ({
  files: new MemoryFiles(),
  guestFiles: noGuestFiles,
  check: new FakeCheck(),
  gmail: null,
  ...changes,
});
