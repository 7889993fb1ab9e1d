import { readPairingCode, Refusal } from '@lodge/domain';
import { ChannelFailure } from '@lodge/ports';
import type { ChannelDestination, ChannelRow } from '@lodge/ports';
import {
  channelsOf,
  decideSender,
  deleteChannel,
  findChannel,
  senderDecidedBy,
  sendersOf,
} from '@lodge/store/channels';
import type { ChannelPlace } from '@lodge/store/channels';
import { notify } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import { createConsentPages } from '../consents/pages.ts';
import type { Channels, Test } from './channels.ts';
import { finishConsent, startConsent } from './consent.ts';
import { asked, openedOf } from './credentials.ts';
import type { ChannelsDeps } from './deps.ts';
import { noChannel, unsayableWords } from './not-found.ts';
import { pair, pairing } from './pairing.ts';
import { checked, put, restart } from './put.ts';

const testText = 'This is a test message: the channel works.';

/** The use-cases of owners over their ports. */
export function createChannels(deps: ChannelsDeps): Channels {
  const { database, store, agents } = deps;
  return {
    async list(accountId, agentId) {
      await agents.get(accountId, agentId);
      return database.repeatable((db) => channelsOf(db, { accountId, agentId }));
    },
    find: (place) => find(deps, place),
    check: (inputs, options) =>
      Promise.all(
        inputs.map((input) => checked(deps, input, null, { ...options, prefix: `channels.${input.channel}.` })),
      ),
    put: (accountId, agentId, input, options) => put(deps, accountId, agentId, input, options),
    async remove(place, note) {
      const { accountId, agentId, channel } = place;
      await agents.get(accountId, agentId);
      await database.transaction(async (trx) => {
        if (!(await deleteChannel(trx, place))) throw noChannel(channel);
        await notify(trx, agentId, 'channel_changed');
        await writeNote(trx, place, { type: 'channel.removed', data: { channel } }, note);
      });
    },
    async restart(place, note) {
      await agents.get(place.accountId, place.agentId);
      return restart(deps, place, note);
    },
    async say(destination, text) {
      await agents.get(destination.accountId, destination.agentId);
      await say(deps, destination, text);
    },
    test: (place, conversation, signal) => test(deps, place, conversation, signal),
    ...messagesOf(deps),
    onChange: (agentId, listener) => store.onChange((id) => (id === null || id === agentId) && listener()),
    whatsapp: {
      pair: (accountId, agentId, ask) => pair(deps, accountId, agentId, ask),
      pairing: (accountId, agentId) => pairing(deps, accountId, agentId),
    },
    consents: createConsentPages(deps),
    gmail: {
      start: (accountId, agentId, ask) => startConsent(deps, accountId, agentId, ask),
      finish: (back, signal) => finishConsent(deps, back, signal),
    },
  };
}

async function find({ agents, database }: ChannelsDeps, place: ChannelPlace) {
  await agents.get(place.accountId, place.agentId);
  return database.repeatable((db) => findChannel(db, place));
}

async function there(deps: ChannelsDeps, place: ChannelPlace): Promise<ChannelRow> {
  const row = await find(deps, place);
  if (row === null) throw noChannel(place.channel);
  return row;
}

function messagesOf(deps: ChannelsDeps): Pick<Channels, 'senders' | 'decide' | 'decided' | 'messages' | 'retry'> {
  const { database, store, agents } = deps;
  return {
    async senders(place, state) {
      await there(deps, place);
      return database.repeatable((db) => sendersOf(db, place, state));
    },
    async decide(place, { code, approve }, note) {
      await there(deps, place);
      return database.transaction(async (trx) => {
        const sender = await decideSender(trx, place, readPairingCode(code), approve ? 'approved' : 'denied');
        if (sender === undefined) {
          throw new Refusal('approval_not_found', 'Nobody waits with this code: code is wrong, or was decided before.');
        }
        const data = { channel: place.channel, sender_id: sender.senderId, approved: approve };
        await notify(trx, place.agentId, 'channel_changed');
        await writeNote(trx, place, { type: 'channel.sender_decided', data }, note);
        return sender;
      });
    },
    async decided(place, code) {
      await there(deps, place);
      const sender = await database.repeatable((db) => senderDecidedBy(db, place, readPairingCode(code)));
      if (sender !== undefined) return sender;
      throw new Refusal('approval_not_found', 'Nobody was decided about by this code.');
    },
    async messages(query) {
      await agents.get(query.accountId, query.agentId);
      return store.messages(query);
    },
    async retry(accountId, agentId, messageId, note) {
      await agents.get(accountId, agentId);
      // No id of Lodge's is longer or has other characters.
      const isId = /^[\w-]{1,64}$/.test(messageId);
      const message = isId ? await store.retry(accountId, agentId, messageId, note) : null;
      if (message === null) throw new Refusal('message_not_found', 'The agent has no such message.');
      if (message !== 'not_retryable') return message;
      throw new Refusal('message_not_retryable', 'Only a message in the state failed or unknown can be retried.');
    },
  };
}

async function say({ store }: ChannelsDeps, destination: ChannelDestination, text: string): Promise<void> {
  const said = await store.say(destination, text);
  if (said !== 'queued') throw new Refusal('invalid_request', unsayableWords('conversation', said));
}

async function test(
  deps: ChannelsDeps,
  place: ChannelPlace,
  conversation: string | null,
  signal: AbortSignal,
): Promise<Test> {
  const row = await there(deps, place);
  const { accountId, agentId, channel } = place;
  if (conversation !== null) await say(deps, { accountId, agentId, channel, conversationId: conversation }, testText);
  const isQueued = conversation !== null;
  try {
    const known = await asked(deps, channel, openedOf(deps.secrets, row), signal);
    return { row, identity: known?.identity ?? row.identity, reason: null, isQueued };
  } catch (error) {
    if (!(error instanceof ChannelFailure)) throw error;
    return { row, identity: null, reason: error.reason, isQueued };
  }
}
