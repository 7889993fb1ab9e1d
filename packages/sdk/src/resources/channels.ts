import { ApiError, ConnectionError, TimeoutError } from '../errors.ts';
import { eventsOf } from '../http/events.ts';
import type { Pages } from '../http/page.ts';
import { backoff, pause } from '../http/retry.ts';
import { jsonOf } from '../http/stream.ts';
import { agentPath } from '../http/url.ts';
import type { CallOptions, WithQuery } from '../options.ts';
import type {
  Approval,
  ApprovalList,
  Channel,
  ChannelList,
  ChannelTest,
  DecideApproval,
  DeletedChannel,
  OAuthSession,
  Pairing,
  PairWhatsApp,
  PutChannel,
  StartOAuth,
  TestChannel,
} from '../types.ts';
import { Resource } from './resource.ts';
import type { QueryOf } from './resource.ts';

export type ChannelName = Channel['channel'] | 'email';

const platformMs = 90_000;
/** Cuts one after another until a pairing is given up. */
const maxCuts = 20;

/** Messaging platforms that an agent answers on. */
export class Channels extends Resource {
  list(agentId: string, options?: CallOptions): Pages<ChannelList> {
    return this.pagesOf(agentPath(agentId, 'channels'), options);
  }

  get(agentId: string, channel: ChannelName, options?: CallOptions): Promise<Channel> {
    return this.getJson(agentPath(agentId, 'channels', channel), options);
  }

  /** Sets a channel up, or changes it. */
  put(
    agentId: string,
    channel: ChannelName,
    body: PutChannel,
    options?: WithQuery<QueryOf<'putChannel'>>,
  ): Promise<Channel> {
    return this.sendJson('PUT', agentPath(agentId, 'channels', channel), options, { body, slowMs: platformMs });
  }

  delete(agentId: string, channel: ChannelName, options?: CallOptions): Promise<DeletedChannel> {
    return this.sendJson('DELETE', agentPath(agentId, 'channels', channel), options);
  }

  restart(
    agentId: string,
    channel: ChannelName,
    body?: Record<string, never>,
    options?: CallOptions,
  ): Promise<Channel> {
    return this.postJson(agentPath(agentId, 'channels', channel, 'restart'), body, options);
  }

  /** Asks the platform whether all is well, and sends a message where the body names a conversation. */
  test(agentId: string, channel: ChannelName, body?: TestChannel, options?: CallOptions): Promise<ChannelTest> {
    return this.postJson(agentPath(agentId, 'channels', channel, 'test'), body, options, { slowMs: platformMs });
  }

  /** People who asked to talk to the agent. */
  approvals(
    agentId: string,
    channel: ChannelName,
    query?: QueryOf<'listApprovals'>,
    options?: CallOptions,
  ): Pages<ApprovalList> {
    return this.pagesOf(agentPath(agentId, 'channels', channel, 'approvals'), options, query);
  }

  decide(agentId: string, channel: ChannelName, body: DecideApproval, options?: CallOptions): Promise<Approval> {
    return this.postJson(agentPath(agentId, 'channels', channel, 'approvals'), body, options);
  }

  startGmailOAuth(agentId: string, body?: StartOAuth, options?: CallOptions): Promise<OAuthSession> {
    return this.postJson(agentPath(agentId, 'channels', 'gmail', 'oauth', 'start'), body, options);
  }

  /** How the pairing of WhatsApp is. */
  pairing(agentId: string, options?: CallOptions): Promise<Pairing> {
    return this.getJson(pairPath(agentId), options);
  }

  /**
   * Pairs WhatsApp: each state as it comes, with the code to scan in `qr` (or to type in, in `pairing_code`, where a
   * `phone_number` is given). It ends with `connected` or `failed`. After `expired` another code comes.
   */
  async *pairWhatsApp(
    agentId: string,
    body: PairWhatsApp = {},
    options: CallOptions = {},
  ): AsyncGenerator<Pairing, void> {
    const begun = { method: 'POST', path: pairPath(agentId), body, isRepeatable: true };
    const first = await this.http.json<Pairing>(begun, options);
    yield first;
    if (isOver(first)) return;
    let shown = JSON.stringify(first);
    for (let cuts = 0; cuts < maxCuts; cuts += 1) {
      try {
        for await (const pairing of this.#states(agentId, options)) {
          const text = JSON.stringify(pairing);
          if (text !== shown) yield pairing;
          shown = text;
          cuts = 0;
          if (isOver(pairing)) return;
        }
      } catch (error) {
        const isPassing = error instanceof ApiError ? error.status >= 500 : isCut(error);
        if (!isPassing) throw error;
      }
      await pause(backoff(cuts, 250, 5_000), options.signal);
    }
    throw new ConnectionError('The server cannot be reached to follow the pairing.');
  }

  async *#states(agentId: string, options: CallOptions): AsyncGenerator<Pairing, void> {
    const call = { method: 'GET', path: pairPath(agentId), headers: { accept: 'text/event-stream' } };
    const { reply, attempt } = await this.http.open(call, options);
    for await (const { data } of eventsOf(reply, attempt)) yield jsonOf(data) as Pairing;
  }
}

const pairPath = (agentId: string): string => agentPath(agentId, 'channels', 'whatsapp', 'pair');
const isOver = ({ status }: Pairing): boolean => status === 'connected' || status === 'failed';
const isCut = (error: unknown): boolean => error instanceof ConnectionError || error instanceof TimeoutError;
