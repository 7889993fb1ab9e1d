import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { type Outcome, type Prober, type Target, askFrom } from './prober.ts';
import { ip, letGo, linkAddress } from './shell.ts';

async function* framesOf(stream: Readable): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
      const end = 2 + rest.readUInt16BE(0);
      yield rest.subarray(2, end);
      rest = rest.subarray(end);
    }
  }
}

async function openTap(namespace: string, tap: string, uid: number): Promise<ChildProcess> {
  const argv = ['setpriv', `--reuid=${uid}`, '--clear-groups', 'perl', join(import.meta.dirname, 'tap.pl'), tap];
  const child = spawn('nsenter', [`--net=/run/netns/${namespace}`, ...(uid === 0 ? argv.slice(3) : argv)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const [line] = (await once(createInterface(child.stderr), 'line')) as [string];
  if (line !== 'ready') throw new Error(`${namespace} ${tap}: ${line}`);
  letGo(child);
  return child;
}

/**
 * A guest without an emulator: a network namespace whose `eth0` is joined to the tap of the VM's namespace, frame by frame,
 * by a process that has no rights but the tap's owner's. A program in it has a whole network stack and root's power over it,
 * as in a hostile guest; `send` goes below that stack.
 */
export class StubGuest implements Prober {
  readonly namespace: string;
  /** Hardware addresses of the guest and of the tap. */
  readonly mac: string;
  readonly tapMac: string;
  /** Every frame that came out of the tap. */
  readonly received: Buffer[] = [];
  readonly #taps: readonly [ChildProcess, ChildProcess];

  private constructor(namespace: string, macs: readonly [string, string], taps: readonly [ChildProcess, ChildProcess]) {
    this.namespace = namespace;
    [this.mac, this.tapMac] = macs;
    this.#taps = taps;
    // Frames in flight at its end have nowhere to go.
    for (const { stdin } of taps) stdin!.on('error', () => undefined);
    const [vm, own] = taps;
    void this.#join(vm, own, (frame) => this.received.push(frame));
    void this.#join(own, vm, () => {});
  }

  static async start(vmNamespace: string, tapOwner: number): Promise<StubGuest> {
    const namespace = `guest-${vmNamespace}`;
    await ip(null, `netns add ${namespace}`);
    const taps = [await openTap(vmNamespace, 'tap0', tapOwner), await openTap(namespace, 'eth0', 0)] as const;
    await ip(
      namespace,
      'link set lo up',
      'address add 10.0.2.15/24 dev eth0',
      'link set eth0 up',
      'route add default via 10.0.2.2',
    );
    const macs = [await linkAddress(namespace, 'eth0'), await linkAddress(vmNamespace, 'tap0')] as const;
    return new StubGuest(namespace, macs, taps);
  }

  async #join(from: ChildProcess, to: ChildProcess, seen: (frame: Buffer) => void): Promise<void> {
    for await (const frame of framesOf(from.stdout!)) {
      seen(frame);
      this.#write(to, frame);
    }
  }

  #write(to: ChildProcess, frame: Buffer): void {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(frame.length);
    to.stdin!.write(Buffer.concat([length, frame]));
  }

  /** Puts a frame on the wire as it is. */
  send(frame: Buffer): void {
    this.#write(this.#taps[0], frame);
  }

  ask(targets: readonly Target[]): Promise<Outcome[]> {
    return askFrom(this.namespace, targets);
  }

  /** Ends as an emulator does: the tap stays, without a reader. */
  async stop(): Promise<void> {
    for (const tap of this.#taps) {
      if (tap.exitCode !== null) continue;
      const ended = once(tap, 'exit');
      tap.kill('SIGKILL');
      await ended;
    }
    await ip(null, `netns del ${this.namespace}`);
  }
}
