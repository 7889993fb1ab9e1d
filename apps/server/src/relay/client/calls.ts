/** The relay's side: its calls of the control plane, and the control plane's messages. */
import { Semaphore } from '@lodge/domain';
import { LeaseLost, NoRoomError } from '@lodge/ports';
import type { Channel, Message } from '@lodge/vm/channel';
import type { ArgsOf, MethodName, ResultOf } from '../serve/methods.ts';
import type { CallFailure } from '../serve/serve.ts';

/** Running calls, and bytes of their messages; more wait here, in order. Half of what the other end takes. */
const maxAtOnce = 128;
const maxBytesAtOnce = 16 * 2 ** 20;
/** A control plane that says nothing for so long hangs: its statements end long before that. */
const answeredWithinMs = 60_000;

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

export class Calls {
  private readonly channel: Channel;
  private readonly pending = new Map<number, Pending>();
  private readonly places = new Semaphore(maxAtOnce);
  private readonly bytes = new Semaphore(maxBytesAtOnce);
  private next = 1;

  constructor(channel: Channel) {
    this.channel = channel;
    channel.receive('reply', (message) => this.take(message));
    void channel.ended.then(() => {
      for (const { reject } of this.pending.values()) reject(new Error('the control plane is gone'));
    });
  }

  /** Rejects with `LeaseLost`, `NoRoomError` or `RangeError` as the store and the files do, and with an `Error` otherwise. */
  async call<N extends MethodName>(method: N, args: ArgsOf<N>): Promise<ResultOf<N>> {
    const amount = Math.min(JSON.stringify(args).length, maxBytesAtOnce);
    return this.bytes.through(() => this.places.through(() => this.send(method, args)), { amount });
  }

  private async send<N extends MethodName>(method: N, args: ArgsOf<N>): Promise<ResultOf<N>> {
    const id = this.next++;
    const { promise, resolve, reject } = Promise.withResolvers<ResultOf<N>>();
    const tooLate = setTimeout(() => reject(new Error('the control plane did not answer')), answeredWithinMs);
    this.pending.set(id, { resolve, reject });
    try {
      this.channel.send({ kind: 'call', id, method, args });
      return await promise;
    } finally {
      clearTimeout(tooLate);
      this.pending.delete(id);
    }
  }

  private take({ id, value, failure }: Message): void {
    const call = this.pending.get(id as number);
    if (failure === undefined) call?.resolve(value as never);
    else call?.reject(errorOf(failure as CallFailure));
  }
}

function errorOf(failure: CallFailure): Error {
  switch (failure) {
    case 'lease_lost':
      return new LeaseLost();
    case 'no_room':
      return new NoRoomError();
    case 'refused':
      return new RangeError('the control plane refused it');
    case 'failed':
      return new Error('the control plane could not do it');
  }
}
