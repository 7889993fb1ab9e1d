/**
 * The owners' use-cases for the channels of their agents, in every state of the agent. Each refuses with `agent_not_found`
 * where the account has no such agent, and with `channel_not_found` where the agent has no such channel.
 */
import { readPairingCode, Refusal } from '@lodge/domain';
import type { ChannelIdentity, ChannelReason } from '@lodge/domain';
import { ChannelFailure } from '@lodge/ports';
import type { ActorNote, ChangeNote } from '@lodge/ports';
import {
  channelsOf,
  decideSender,
  deleteChannel,
  messagePage,
  senderDecidedBy,
  sendersOf,
} from '@lodge/store/channels';
import type {
  ChannelDestination,
  ChannelMessage,
  ChannelPlace,
  ChannelRow,
  ChannelSender,
  MessageQuery,
} from '@lodge/store/channels';
import { notify } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import { createConsentPages } from '../consents/pages.ts';
import type { ConsentBack, OAuthStart } from '../consents/sessions.ts';
import { checked, newChannel } from './check.ts';
import { finishConsent, startConsent } from './consent.ts';
import type { ConsentAsk, OAuthEnd } from './consent.ts';
import { sayInConversation, unsayable } from './conversations.ts';
import { asked, openedOf } from './credentials.ts';
import type { ChannelsDeps } from './deps.ts';
import type { ChannelInput, CheckedChannel, PutOptions } from './input.ts';
import { retryMessage } from './messages.ts';
import { pair, pairing } from './pairing.ts';
import type { PairAsk, Pairing } from './pairing.ts';
import { restartChannel, storeChannel } from './put.ts';
import type { Put } from './put.ts';
import { channelAt, noChannel, onChannelChange, presentChannel } from './reading.ts';

const testText = 'This is a test message: the channel works.';

export interface Test {
  readonly row: ChannelRow;
  /** The platform's name for the owner of the credentials; null where it was not asked, or says no. */
  readonly identity: ChannelIdentity | null;
  /** Why the channel does not work; null where the platform did not object. */
  readonly reason: ChannelReason | null;
  /** Whether a text was queued into a conversation. */
  readonly isQueued: boolean;
}

export type Channels = ReturnType<typeof createChannels>;

export const createChannels = (deps: ChannelsDeps) => ({
  ...createReads(deps),
  ...createChanges(deps),
  ...createSenders(deps),
  ...createMessages(deps),
  whatsapp: {
    /**
     * Asks for a code and makes the channel where there is none. Refuses with `agent_not_running`. Resolves once there is a
     * code, or after `waitMs`.
     */
    pair: (accountId: string, agentId: string, ask: PairAsk): Promise<Pairing> => pair(deps, accountId, agentId, ask),
    pairing: (accountId: string, agentId: string): Promise<Pairing> => pairing(deps, accountId, agentId),
  },
  /** Consent pages, for mailboxes and connections alike. */
  consents: createConsentPages(deps),
  gmail: {
    /** Begins a consent. Refuses with `gmail_not_configured`. */
    start: (accountId: string, agentId: string, ask: ConsentAsk): Promise<OAuthStart> =>
      startConsent(deps, accountId, agentId, ask),
    /**
     * Ends a consent with what the browser brought back. Refuses with `link_not_valid`, `invalid_request` or
     * `channel_conflict`.
     */
    finish: (back: ConsentBack, signal: AbortSignal): Promise<OAuthEnd> => finishConsent(deps, back, signal),
  },
});

function createReads(deps: ChannelsDeps) {
  const { database, agents } = deps;
  return {
    async list(accountId: string, agentId: string): Promise<readonly ChannelRow[]> {
      await agents.get(accountId, agentId);
      return database.repeatable((db) => channelsOf(db, { accountId, agentId }));
    },
    /** Returns null if the channel was never put. */
    find: (place: ChannelPlace): Promise<ChannelRow | null> => channelAt(deps, place),
    /** Calls back when a channel of the agent may have changed. */
    onChange: (agentId: string, listener: () => void): (() => void) => onChannelChange(deps, agentId, listener),
  };
}

function createChanges(deps: ChannelsDeps) {
  const { database, secrets, agents } = deps;
  return {
    /** Checks the channels of an agent that does not exist yet. Refuses as `put` does, apart from conflicts. */
    check: (inputs: readonly ChannelInput[], options: PutOptions): Promise<readonly CheckedChannel[]> =>
      Promise.all(
        inputs.map((input) => checked(deps, input, null, { ...options, prefix: `channels.${input.channel}.` })),
      ),
    /** Stores a channel. Refuses with `invalid_request` and the field, or with `channel_conflict`. */
    async put(
      accountId: string,
      agentId: string,
      input: ChannelInput,
      options: PutOptions & { readonly note?: ChangeNote },
    ): Promise<Put> {
      const present = await channelAt(deps, { accountId, agentId, channel: input.channel });
      const channel = newChannel(secrets, agentId, await checked(deps, input, present, options));
      return storeChannel(database, { accountId, agentId, ...channel }, options.note);
    },
    async remove(place: ChannelPlace, note?: ChangeNote): Promise<void> {
      const { accountId, agentId, channel } = place;
      await agents.get(accountId, agentId);
      await database.transaction(async (trx) => {
        if (!(await deleteChannel(trx, place))) throw noChannel(channel);
        await notify(trx, agentId, 'channel_changed');
        await writeNote(trx, place, { type: 'channel.removed', data: { channel } }, note);
      });
    },
    async restart(place: ChannelPlace, note?: ChangeNote): Promise<ChannelRow> {
      await agents.get(place.accountId, place.agentId);
      return restartChannel(database, place, note);
    },
  };
}

function createSenders(deps: ChannelsDeps) {
  const { database } = deps;
  return {
    async senders(place: ChannelPlace, state?: ChannelSender['state']): Promise<readonly ChannelSender[]> {
      await presentChannel(deps, place);
      return database.repeatable((db) => sendersOf(db, place, state));
    },
    /** Decides about a sender. Refuses with `approval_not_found`. */
    async decide(
      place: ChannelPlace,
      { code, approve }: { readonly code: string; readonly approve: boolean },
      note?: ActorNote,
    ): Promise<ChannelSender> {
      await presentChannel(deps, place);
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
    /** Returns the sender that an earlier decision with this code was about. Refuses with `approval_not_found`. */
    async decided(place: ChannelPlace, code: string): Promise<ChannelSender> {
      await presentChannel(deps, place);
      const sender = await database.repeatable((db) => senderDecidedBy(db, place, readPairingCode(code)));
      if (sender !== undefined) return sender;
      throw new Refusal('approval_not_found', 'Nobody was decided about by this code.');
    },
  };
}

function createMessages(deps: ChannelsDeps) {
  const { database, agents } = deps;
  return {
    /**
     * Sends a text into a conversation that wrote to the agent before, and that the channel's access still allows. Refuses
     * with `invalid_request` where it does not.
     */
    async say(destination: ChannelDestination, text: string): Promise<void> {
      await agents.get(destination.accountId, destination.agentId);
      await say(deps, destination, text);
    },
    /** Asks the platform now; with a conversation, queues a text into it. */
    test: (place: ChannelPlace, conversation: string | null, signal: AbortSignal): Promise<Test> =>
      test(deps, place, conversation, signal),
    /** Newest first. */
    async messages(query: MessageQuery): Promise<readonly ChannelMessage[]> {
      await agents.get(query.accountId, query.agentId);
      return database.repeatable((db) => messagePage(db, query));
    },
    /** Retries a failed message. Refuses with `message_not_found` or `message_not_retryable`. */
    async retry(accountId: string, agentId: string, messageId: string, note?: ActorNote): Promise<ChannelMessage> {
      await agents.get(accountId, agentId);
      return retryMessage(database, { accountId, agentId, messageId }, note);
    },
  };
}

async function say({ database }: ChannelsDeps, destination: ChannelDestination, text: string): Promise<void> {
  const said = await database.transaction((trx) => sayInConversation(trx, destination, text));
  if (said !== 'queued') throw unsayable('conversation', said);
}

async function test(
  deps: ChannelsDeps,
  place: ChannelPlace,
  conversation: string | null,
  signal: AbortSignal,
): Promise<Test> {
  const row = await presentChannel(deps, place);
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
