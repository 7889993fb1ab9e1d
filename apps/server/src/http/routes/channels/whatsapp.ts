import { AgentParams, Pairing, PairingStreamEvent, PairWhatsApp } from '@lodge/contract';
import type { Channels, Pairing as PairingState } from '@lodge/engine';
import type { Log } from '@lodge/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkAgentId } from '../../reply/agent-record.ts';
import { sendEvents } from '../../reply/event-stream.ts';
import { changeNote } from '../../identity/change-note.ts';
import type { Endings } from '../../identity/ended.ts';
import { clientGone, onReplyOver } from '../../pipeline/client-gone.ts';
import { toWire } from '../../reply/to-wire.ts';
import { Followers } from '../../reply/follow/followers.ts';
import type { App } from '../../app-types.ts';
import { qrPng } from './qr-png.ts';
import { changeConfig, readConfig, tags } from './shared.ts';
import type { ChannelNeeds } from './shared.ts';

/** How long a reply waits for the first code. */
const codeWaitMs = 10_000;
/** Longest stream; the page asks again after it. */
const streamMs = 10 * 60_000;
const lookEveryMs = 5_000;
/** Streams at once of one account. */
const maxOfAccount = 20;

interface Needs extends ChannelNeeds {
  readonly endings: Endings;
  readonly closing: AbortSignal;
  readonly logSilenceMs?: number;
  readonly log: Log;
}

const url = '/v1/agents/:id/channels/whatsapp/pair';

/** `POST` and `GET /v1/agents/:id/channels/whatsapp/pair`. */
export function whatsAppRoutes(app: App, needs: Needs): void {
  const followers = new Followers('pairing', maxOfAccount);
  app.route({
    method: 'POST',
    url,
    schema: {
      operationId: 'pairWhatsApp',
      tags,
      summary: 'Pair WhatsApp with an agent',
      description:
        'Asks for a code to scan, or with `phone_number` for one to type in on the phone. Makes the channel where there is none, enables it, and begins anew where a pairing has failed. The reply waits some seconds for the code; poll or follow the same path with GET. The agent must be live.',
      params: AgentParams,
      body: PairWhatsApp,
      response: { 200: { ...Pairing, 'x-response-description': 'How the pairing is.' } },
    },
    config: {
      ...changeConfig,
      secretReply: true,
      errors: ['agent_not_found', 'agent_not_running', 'agent_unavailable'],
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      checkAgentId(id);
      const data = { channel: 'whatsapp', enabled: true } as const;
      const pairing = await needs.channels.whatsapp.pair(request.principal.accountId, id, {
        phoneNumber: request.body.phone_number?.replace('+', '') ?? null,
        waitMs: codeWaitMs,
        signal: AbortSignal.any([clientGone(reply), needs.closing]),
        note: changeNote(request, { type: 'channel.configured', data }),
      });
      return pairingRecord(pairing, true);
    },
  });
  app.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'getWhatsAppPairing',
      tags,
      summary: 'Read or follow the pairing of WhatsApp',
      description:
        'With `Accept: text/event-stream` each change comes as an event, until it is connected or has failed. The codes are shown to who may change the agent.',
      params: AgentParams,
      response: {
        200: {
          description: 'How the pairing is, or each change of it.',
          content: { 'application/json': { schema: Pairing }, 'text/event-stream': { schema: PairingStreamEvent } },
        },
      },
    },
    config: readConfig,
    compress: false,
    handler: (request, reply) => read(needs, followers, request, reply),
  });
}

async function read(needs: Needs, followers: Followers, request: FastifyRequest, reply: FastifyReply) {
  const { id } = request.params as { readonly id: string };
  checkAgentId(id);
  const { channels } = needs;
  const { accountId, scopes } = request.principal;
  const isShown = scopes.includes('agents:write');
  const look = async (): Promise<Pairing> => pairingRecord(await channels.whatsapp.pairing(accountId, id), isShown);
  const first = await look();
  // There is nothing to follow without a body.
  if (request.method === 'HEAD' || !/\btext\/event-stream\b/i.test(request.headers.accept ?? '')) return first;
  onReplyOver(reply, followers.join(accountId));
  const signal = AbortSignal.any([
    clientGone(reply),
    needs.closing,
    needs.endings.of(request, reply),
    AbortSignal.timeout(streamMs),
  ]);
  const blocks = follow(channels, id, first, { look, signal });
  return sendEvents(reply, blocks, { silenceMs: needs.logSilenceMs });
}

interface Following {
  readonly look: () => Promise<Pairing>;
  readonly signal: AbortSignal;
}

async function* follow(
  channels: Channels,
  agentId: string,
  first: Pairing,
  { look, signal }: Following,
): AsyncGenerator<string> {
  let wake = Promise.withResolvers<void>();
  const unsubscribe = channels.onChange(agentId, () => wake.resolve());
  const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  try {
    let shown = '';
    for (let pairing = first; ; pairing = await look()) {
      const data = JSON.stringify(pairing);
      if (data !== shown) yield `event: pairing\ndata: ${data}\n\n`;
      shown = data;
      if (pairing.status === 'connected' || pairing.status === 'failed' || signal.aborted) return;
      // A code expires without a change.
      const timer = setTimeout(() => wake.resolve(), lookEveryMs);
      await Promise.race([wake.promise, ended]).finally(() => clearTimeout(timer));
      if (signal.aborted) return;
      wake = Promise.withResolvers();
    }
  } catch {
    // The channel or its agent is gone.
  } finally {
    unsubscribe();
  }
}

const pairingRecord = (pairing: PairingState, isShown: boolean): Pairing =>
  toWire(Pairing, {
    ...pairing,
    channel: 'whatsapp',
    qr: isShown ? pairing.qr : null,
    qrPng: isShown && pairing.qr !== null ? qrPng(pairing.qr) : null,
    pairingCode: isShown ? pairing.pairingCode : null,
  });
