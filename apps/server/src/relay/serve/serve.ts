/**
 * The control plane's side of a relay process, which is taken for hostile: strangers' messages are parsed there. A call is
 * checked whole before anything is done. A message that is no call of this protocol ends the channel, and with it the
 * process.
 *
 *   call -> checked -> under way -> reply (a value, or why not)
 *   work, noticed <- told as they happen
 */
import { LeaseLost, NoRoomError } from '@lodge/ports';
import type { Log, MailboxNotices, OpenedRelayStore, RelayFiles } from '@lodge/ports';
import { ChannelError } from '@lodge/vm/channel';
import type { Channel, Message } from '@lodge/vm/channel';
import { ShapeError } from '@lodge/domain/shapes';
import { Holdings } from './holdings.ts';
import { prepareCall } from './methods.ts';
import type { Served } from './methods.ts';
import { Transfers } from './transfers.ts';

/** A process with more running calls must be faulty: `client/calls.ts` stays at half. */
export const maxCallsUnderWay = 256;
/** Bytes of their messages in all. */
export const maxBytesUnderWay = 32 * 2 ** 20;

/** Why a call failed, in the relay's terms. No text of an error crosses: it may be about other channels. */
export type CallFailure = 'lease_lost' | 'no_room' | 'refused' | 'failed';

export interface RelayToServe extends Pick<Served, 'name' | 'channels' | 'leaseMs'> {
  readonly store: OpenedRelayStore;
  readonly notices: MailboxNotices;
  readonly files: RelayFiles;
  readonly log: Log;
}

/** Until the channel ends. */
export function serveRelay(channel: Channel, { files, log, ...given }: RelayToServe): void {
  const transfers = new Transfers(files);
  const served: Served = { ...given, holdings: new Holdings(), transfers };
  let callsUnderWay = 0;
  let bytesUnderWay = 0;
  channel.receive('call', (message, bytes) => {
    const id = idOf(message);
    if (callsUnderWay >= maxCallsUnderWay || bytesUnderWay + bytes > maxBytesUnderWay)
      throw new ChannelError('too many calls are under way');
    callsUnderWay += 1;
    bytesUnderWay += bytes;
    void outcomeOf(message, served, log)
      .then((outcome) => reply(channel, id, outcome))
      .finally(() => {
        callsUnderWay -= 1;
        bytesUnderWay -= bytes;
      });
  });
  const ends = [
    given.store.onWork(({ of }) => channel.send({ kind: 'work', of })),
    given.notices.on((address) => channel.send({ kind: 'noticed', address })),
  ];
  void channel.ended.then(() => {
    for (const end of ends) end();
    transfers.close();
  });
}

type Outcome = { readonly value: unknown } | { readonly failure: CallFailure };

async function outcomeOf(message: Message, served: Served, log: Log): Promise<Outcome> {
  const { method, args } = message;
  try {
    return { value: (await prepareCall(method, args)(served)) ?? null };
  } catch (error) {
    if (error instanceof LeaseLost) return { failure: 'lease_lost' };
    if (error instanceof NoRoomError) return { failure: 'no_room' };
    const isRefused = error instanceof ShapeError || error instanceof RangeError;
    const fields = { method: String(method).slice(0, 40) };
    if (isRefused) log.warn({ ...fields, why: error.message }, 'a call of a relay was refused');
    else log.warn({ ...fields, err: error }, 'a call of a relay failed');
    return { failure: isRefused ? 'refused' : 'failed' };
  }
}

function reply(channel: Channel, id: number, outcome: Outcome): void {
  try {
    channel.send({ kind: 'reply', id, ...outcome });
  } catch (error) {
    if (!(error instanceof ChannelError)) throw error;
    channel.send({ kind: 'reply', id, failure: 'failed' satisfies CallFailure });
  }
}

function idOf({ id }: Message): number {
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) return id;
  throw new ChannelError('a message has no number');
}
