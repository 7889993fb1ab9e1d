import type { ChannelAccess, ChannelIdentity, ChannelName, ChannelReason } from '@lodge/domain';
import type {
  ActorNote,
  ChangeNote,
  ChannelDestination,
  ChannelMessage,
  ChannelRow,
  ChannelSecrets,
  MessageQuery,
} from '@lodge/ports';
import type { ChannelPlace, ChannelSender } from '@lodge/store/channels';
import type { ConsentPages } from '../consents/pages.ts';
import type { ConsentBack, OAuthStart } from '../consents/sessions.ts';

/** A channel as its owner puts it. */
export interface ChannelInput {
  readonly channel: ChannelName;
  readonly enabled: boolean;
  readonly access: ChannelAccess;
  /** Values by the names in `channelCredentials`; omitted ones stay as they are stored. */
  readonly credentials: ChannelSecrets;
}

export interface PutOptions {
  /** False skips asking the platform whether the credentials are good. */
  readonly verify: boolean;
  /** Prefix of a field's name in a refusal. */
  readonly prefix?: string;
  readonly signal: AbortSignal;
}

/** A channel that is checked and not yet written. */
export interface CheckedChannel {
  readonly input: ChannelInput;
  /** The same as in `ChannelChange`. */
  readonly accountKey?: string | null;
}

export interface Test {
  readonly row: ChannelRow;
  /** The platform's name for the owner of the credentials; null where it was not asked, or says no. */
  readonly identity: ChannelIdentity | null;
  /** Why the channel does not work; null where the platform did not object. */
  readonly reason: ChannelReason | null;
  /** Whether a text was queued into a conversation. */
  readonly isQueued: boolean;
}

export interface Pairing {
  readonly status: 'pending' | 'connected' | 'expired' | 'failed';
  readonly reason: ChannelReason | null;
  /** A code to scan; null while there is none. */
  readonly qr: string | null;
  /** A code to type on the phone; null where none was asked for. */
  readonly pairingCode: string | null;
  readonly expiresAt: Date | null;
  readonly attempt: number;
}

export interface OAuthEnd {
  readonly agentId: string;
  /** The address that the agent answers from now on. */
  readonly mailbox: string;
  /** The page that the person goes to next; null: none. */
  readonly returnUrl: string | null;
}

/**
 * The owners' use-cases for the channels of their agents, in every state of the agent. Each refuses with `agent_not_found`
 * where the account has no such agent, and with `channel_not_found` where the agent has no such channel.
 */
export interface Channels {
  list(accountId: string, agentId: string): Promise<readonly ChannelRow[]>;
  /** Returns null if the channel was never put. */
  find(place: ChannelPlace): Promise<ChannelRow | null>;
  /** Checks the channels of an agent that does not exist yet. Refuses as `put` does, apart from conflicts. */
  check(inputs: readonly ChannelInput[], options: PutOptions): Promise<readonly CheckedChannel[]>;
  /** Stores a channel. Refuses with `invalid_request` and the field, or with `channel_conflict`. */
  put(
    accountId: string,
    agentId: string,
    input: ChannelInput,
    options: PutOptions & { readonly note?: ChangeNote },
  ): Promise<{ readonly row: ChannelRow; readonly isNew: boolean }>;
  remove(place: ChannelPlace, note?: ChangeNote): Promise<void>;
  restart(place: ChannelPlace, note?: ChangeNote): Promise<ChannelRow>;
  /** Asks the platform now; with a conversation, queues a text into it. */
  test(place: ChannelPlace, conversation: string | null, signal: AbortSignal): Promise<Test>;
  /**
   * Sends a text into a conversation that wrote to the agent before, and that the channel's access still allows. Refuses
   * with `invalid_request` where it does not.
   */
  say(destination: ChannelDestination, text: string): Promise<void>;
  senders(place: ChannelPlace, state?: ChannelSender['state']): Promise<readonly ChannelSender[]>;
  /** Decides about a sender. Refuses with `approval_not_found`. */
  decide(
    place: ChannelPlace,
    decision: { readonly code: string; readonly approve: boolean },
    note?: ActorNote,
  ): Promise<ChannelSender>;
  /** Returns the sender that an earlier decision with this code was about. Refuses with `approval_not_found`. */
  decided(place: ChannelPlace, code: string): Promise<ChannelSender>;
  messages(query: MessageQuery): Promise<readonly ChannelMessage[]>;
  /** Retries a failed message. Refuses with `message_not_found` or `message_not_retryable`. */
  retry(accountId: string, agentId: string, messageId: string, note?: ActorNote): Promise<ChannelMessage>;
  /** Calls back when a channel of the agent may have changed. */
  onChange(agentId: string, listener: () => void): () => void;
  readonly whatsapp: {
    /**
     * Asks for a code and makes the channel where there is none. Refuses with `agent_not_running`. Resolves once there is a
     * code, or after `waitMs`.
     */
    pair(accountId: string, agentId: string, ask: PairAsk): Promise<Pairing>;
    pairing(accountId: string, agentId: string): Promise<Pairing>;
  };
  /** Consent pages, for mailboxes and connections alike. */
  readonly consents: ConsentPages;
  readonly gmail: {
    /** Begins a consent. Refuses with `gmail_not_configured`. */
    start(accountId: string, agentId: string, ask: ConsentAsk): Promise<OAuthStart>;
    /**
     * Ends a consent with what the browser brought back. Refuses with `link_not_valid`, `invalid_request` or
     * `channel_conflict`.
     */
    finish(back: ConsentBack, signal: AbortSignal): Promise<OAuthEnd>;
  };
}

export interface PairAsk {
  /** Only digits; null: a code to scan. */
  readonly phoneNumber: string | null;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly note?: ChangeNote;
}

export interface ConsentAsk {
  readonly redirectUri: string;
  readonly returnUrl: string | null;
  readonly loginHint: string | null;
}
