/**
 * Everything that a relay process can ask of its control plane, one entry a method: the valid messages, and the work.
 * Channels are named by the numbers of this process' leases (`Holdings`): it can name no other.
 */
import type { ChannelName, Json } from '@lodge/domain';
import { maxAnswerParts } from '@lodge/ports';
import type { LeaseRef, MailboxNotices, OpenedRelayStore } from '@lodge/ports';
import { boolean, integer, listOf, oneOf, optional, record, ShapeError, text } from '@lodge/domain/shapes';
import type { Shape, Shaped } from '@lodge/domain/shapes';
import type { Holdings } from './holdings.ts';
import {
  askedMessage,
  credentialText,
  date,
  dictionary,
  json,
  longText,
  messages,
  press,
  secretText,
  shortText,
  state,
} from './shapes.ts';
import type { Transfers } from './transfers.ts';

/** The objects that the calls of one process work on. */
export interface Served {
  readonly store: OpenedRelayStore;
  readonly notices: MailboxNotices;
  readonly holdings: Holdings;
  readonly transfers: Transfers;
  readonly name: string;
  readonly channels: readonly ChannelName[];
  readonly leaseMs: number;
}

interface Method<A, R> {
  readonly shape: Shape<A>;
  readonly run: (served: Served, args: A) => R | Promise<R>;
}

const method = <F extends Readonly<Record<string, Shape<unknown>>>, R>(
  fields: F,
  run: (served: Served, args: Shaped<F>) => R | Promise<R>,
): Method<Shaped<F>, R> => ({ shape: record(fields), run });

/** Most channels of one process, and most of their numbers in one message. */
const maxHeld = 5_000;
const maxParts = 1_000;
const lease = integer(1, Number.MAX_SAFE_INTEGER);
const leases = listOf(lease, maxHeld);
const id = text(200);
const ofLease = { lease };
const ofPart = { lease, part: id };
const transfer = text(36);
/** A piece of a file, in base64. */
const piece = text(2 ** 21);
/** The most that a relay fetches. */
const maxFileBytes = 2 ** 26;
const vaultValue = record({ type: shortText, id: shortText, value: optional(secretText) });

/** Rows of the store name their channel by agent and platform; a relay gets the number that it knows the channel by. */
const withHandles = <R extends LeaseRef>(rows: readonly R[], { holdings }: Served) =>
  rows.flatMap((row) => {
    const handle = holdings.handleOf(row);
    return handle === null ? [] : [{ ...row, lease: handle }];
  });

const leaseMethods = {
  acquire: method({ limit: integer(1, 50) }, async (served, { limit }) => {
    const { store, holdings, name: relay, channels, leaseMs } = served;
    const taken = await store.acquire({ relay, channels, limit, leaseMs });
    return taken.map((each) => ({ ...each, lease: holdings.add(each) }));
  }),
  renew: method({ leases }, async (served, call) => {
    const renewed = await served.store.renew(served.holdings.all(call.leases), served.leaseMs);
    return withHandles(renewed, served);
  }),
  release: method(ofLease, ({ store, holdings }, call) => store.release(holdings.of(call.lease))),
  moveTo: method({ lease, cursor: json }, ({ store, holdings }, call) =>
    store.moveTo(holdings.of(call.lease), call.cursor),
  ),
  receive: method({ lease, messages, cursor: optional(json) }, ({ store, holdings }, call) =>
    store.receive(holdings.of(call.lease), call.messages, call.cursor ?? undefined),
  ),
  press: method({ lease, press }, ({ store, holdings }, call) => store.press(holdings.of(call.lease), call.press)),
  admits: method({ lease, message: askedMessage }, ({ store, holdings }, call) =>
    store.admits(holdings.of(call.lease), call.message),
  ),
  changed: method(
    { lease, state, code: optional(longText), accountKey: optional(shortText) },
    ({ store, holdings }, call) =>
      store.changed(holdings.of(call.lease), call.state, call.code, call.accountKey ?? undefined),
  ),
  faulted: method(ofLease, ({ store, holdings }, call) => store.faulted(holdings.of(call.lease))),
  keep: method({ lease, credentials: dictionary(8, credentialText) }, ({ store, holdings }, call) =>
    store.keep(holdings.of(call.lease), call.credentials),
  ),
  vaultGet: method({ lease, type: shortText, ids: listOf(shortText, 10_000) }, ({ store, holdings }, call) =>
    store.vaultGet(holdings.of(call.lease), call.type, call.ids),
  ),
  vaultSet: method({ lease, values: listOf(vaultValue, 10_000), messages }, ({ store, holdings }, call) =>
    store.vaultSet(holdings.of(call.lease), call.values, call.messages),
  ),
  vaultClear: method(ofLease, ({ store, holdings }, call) => store.vaultClear(holdings.of(call.lease))),
};

const sendMethods = {
  partsToSend: method({ leases, limit: integer(1, maxParts) }, async (served, call) => {
    const parts = await served.store.partsToSend(served.holdings.all(call.leases), call.limit);
    for (const { content } of parts) if (content.kind === 'file') served.transfers.allow(content.key);
    return withHandles(parts, served);
  }),
  split: method(
    { ...ofPart, parts: listOf(record({ text: longText, format: optional(shortText) }), maxAnswerParts) },
    ({ store, holdings }, call) => store.split(holdings.of(call.lease), call.part, call.parts),
  ),
  sending: method(ofPart, ({ store, holdings }, call) => store.sending(holdings.of(call.lease), call.part)),
  sent: method({ ...ofPart, platformId: shortText }, async ({ store, holdings, transfers }, call) => {
    const key = await store.sent(holdings.of(call.lease), call.part, call.platformId);
    if (key !== null) await transfers.over(key);
  }),
  sendLater: method({ ...ofPart, at: date, reason: shortText, isUnclear: boolean }, ({ store, holdings }, call) =>
    store.sendLater(holdings.of(call.lease), call.part, call.at, call.reason, call.isUnclear),
  ),
  sendFailed: method(
    { ...ofPart, outcome: oneOf('failed', 'unknown'), reason: shortText },
    ({ store, holdings }, call) => store.sendFailed(holdings.of(call.lease), call.part, call.outcome, call.reason),
  ),
  working: method({ leases }, async (served, call) =>
    withHandles(await served.store.working(served.holdings.all(call.leases)), served),
  ),
  progress: method({ leases }, async (served, call) =>
    withHandles(await served.store.progress(served.holdings.all(call.leases)), served),
  ),
  posted: method(
    { lease, conversation: shortText, id: shortText, claim: integer(0, 2 ** 31 - 1) },
    ({ store, holdings }, call) =>
      store.posted(holdings.of(call.lease), call.conversation, { id: call.id, claim: call.claim }),
  ),
  unposted: method({ lease, conversation: shortText, id: shortText }, ({ store, holdings }, call) =>
    store.unposted(holdings.of(call.lease), call.conversation, call.id),
  ),
};

const fileMethods = {
  filesToFetch: method(
    { leases, limit: integer(1, maxParts), perAgent: integer(1, maxParts), underWay: listOf(id, maxParts) },
    async (served, { limit, perAgent, underWay, ...call }) => {
      const share = { perAgent, underWay };
      return withHandles(await served.store.filesToFetch(served.holdings.all(call.leases), limit, share), served);
    },
  ),
  fetched: method({ lease, file: id, key: id, bytes: integer(0, maxFileBytes) }, async (served, call) => {
    served.transfers.assertBrought(call.key);
    await served.store.fetched(served.holdings.of(call.lease), call.file, { key: call.key, bytes: call.bytes });
  }),
  notFetched: method({ lease, file: id, reason: shortText }, ({ store, holdings }, call) =>
    store.fetched(holdings.of(call.lease), call.file, { reason: call.reason }),
  ),
  openRead: method({ key: id }, ({ transfers }, { key }) => transfers.openRead(key)),
  read: method({ transfer }, ({ transfers }, call) => transfers.read(call.transfer)),
  closeRead: method({ transfer }, ({ transfers }, call) => transfers.closeRead(call.transfer)),
  openWrite: method(
    { agentId: id, maxBytes: integer(0, maxFileBytes) },
    ({ holdings, transfers }, { agentId, maxBytes }) => transfers.openWrite(holdings.ownerOf(agentId), maxBytes),
  ),
  write: method({ transfer, piece }, ({ transfers }, call) => transfers.write(call.transfer, call.piece)),
  endWrite: method({ transfer }, ({ transfers }, call) => transfers.endWrite(call.transfer)),
  removeFile: method({ key: id }, ({ transfers }, { key }) => transfers.remove(key)),
  dropWrite: method({ transfer }, ({ transfers }, call) => transfers.dropWrite(call.transfer)),
};

export const methods = {
  ...leaseMethods,
  ...sendMethods,
  ...fileMethods,
  tellNotices: method({ addresses: listOf(text(320), 1_000) }, ({ notices }, { addresses }) => notices.tell(addresses)),
};

type Methods = typeof methods;
export type MethodName = keyof Methods;

/** The type of a value that has crossed: a time is its text, and nothing is null. */
type Sent<T> = T extends Date
  ? string
  : T extends undefined
    ? null
    : T extends Json
      ? T
      : T extends readonly (infer E)[]
        ? readonly Sent<E>[]
        : T extends object
          ? { readonly [K in keyof T]: Sent<T[K]> }
          : T;
export type ArgsOf<N extends MethodName> = Parameters<Methods[N]['run']>[1];
export type ResultOf<N extends MethodName> = Sent<Awaited<ReturnType<Methods[N]['run']>>>;

/** Checks the work that a message asks for; refuses with `ShapeError`. */
export function prepareCall(name: unknown, args: unknown): (served: Served) => unknown {
  if (typeof name !== 'string' || !Object.hasOwn(methods, name)) throw new ShapeError('there is no such method');
  const { shape, run } = methods[name as MethodName] as Method<unknown, unknown>;
  const checked = shape(args, name);
  return (served) => run(served, checked);
}
