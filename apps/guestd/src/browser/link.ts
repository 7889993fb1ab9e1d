/** A connection of a program of the agent's to the browser. Programs wait while the owner holds the browser. */
import type { Duplex } from 'node:stream';
import { FrameSight } from './frame-sight.ts';

export class Link {
  private readonly client: Duplex;
  private readonly upstream: Duplex;
  private isHeld: boolean;
  private isFull = false;

  /** `used` is called for each message of the program. */
  constructor(client: Duplex, upstream: Duplex, wanted: { readonly isHeld: boolean; readonly used: () => void }) {
    this.client = client;
    this.upstream = upstream;
    this.isHeld = wanted.isHeld;
    const sight = new FrameSight();
    client.on('data', (chunk: Buffer) => {
      if (sight.take(chunk)) wanted.used();
      this.isFull = !upstream.write(chunk);
      this.flow();
    });
    upstream.on('drain', () => {
      this.isFull = false;
      this.flow();
    });
    client.on('end', () => upstream.end());
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => undefined); // Its close follows.
      one.on('close', () => other.destroy());
    }
    upstream.pipe(client);
    this.flow();
  }

  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    this.flow();
  }

  close(): void {
    this.client.destroy();
    this.upstream.destroy();
  }

  private flow(): void {
    if (this.isHeld || this.isFull) this.client.pause();
    else this.client.resume();
  }
}
