import { asObject, textBounds } from '@lodge/domain';
import { GatewayFailure } from '@lodge/ports';
import type { Gateway, GatewayAnswer, GatewayEvent, GatewayTurn, ReportedError, WholeAnswer } from '@lodge/ports';
import { readEvent, readWhole, reportedError } from './answers.ts';
import { NotConnectedError, readText, send } from './connection.ts';
import type { GatewayReply } from './connection.ts';
import { eventBlocks } from './event-reader.ts';
import { retryAfterOf } from './failures.ts';
import { parseObject } from './json.ts';
import { Steps } from './steps.ts';

/** Runs turns at the gateways of guests. It keeps no connection open between turns. */
export function createGateway(): Gateway {
  return {
    async open(turn) {
      const reply = await begin(turn);
      if (reply.statusCode !== 200) throw await refused(turn, reply);
      return new Answer(turn, reply);
    },
  };
}

async function begin({ endpoint, api, body, signal }: GatewayTurn): Promise<GatewayReply> {
  const { dial, headers } = endpoint;
  try {
    return await send(dial, `${endpoint.baseUrl}/${api}`, { method: 'POST', headers, body, signal });
  } catch (error) {
    throw connectionFailure(error, signal);
  }
}

const { turnError } = textBounds;

async function refused({ explain, signal }: GatewayTurn, reply: GatewayReply): Promise<GatewayFailure> {
  const { statusCode, headers, body } = reply;
  try {
    const error = asObject(parseObject(await readText(body, turnError.bytes), turnError)['error']) ?? {};
    return failure(explain, reportedError(error, statusCode, retryAfterOf(headers['retry-after'])));
  } catch (error) {
    throw connectionFailure(error, signal);
  }
}

class Answer implements GatewayAnswer {
  private readonly turn: Pick<GatewayTurn, 'api' | 'explain' | 'toolStep' | 'signal'>;
  private readonly reply: GatewayReply;

  /** Keeps only parts of the turn, because the request's body may be large. */
  constructor({ api, explain, toolStep, signal }: GatewayTurn, reply: GatewayReply) {
    this.turn = { api, explain, toolStep, signal };
    this.reply = reply;
  }

  async *events(): AsyncGenerator<GatewayEvent> {
    const { api, explain, toolStep, signal } = this.turn;
    const steps = toolStep ? new Steps(toolStep) : null;
    try {
      for await (const block of eventBlocks(this.reply.body as AsyncIterable<Uint8Array>)) {
        const event = readEvent(api, block, steps);
        if (event === null) continue;
        if ('error' in event) throw failure(explain, event.error);
        yield event;
        if (event.isLast) return;
      }
      throw new Error('the stream ended without its last event');
    } catch (error) {
      throw connectionFailure(error, signal);
    }
  }

  async whole(): Promise<WholeAnswer> {
    const { api, explain, signal } = this.turn;
    try {
      const answer = readWhole(api, await readText(this.reply.body, textBounds.turnAnswer.bytes));
      if (answer === null) throw new Error('the gateway answered with something that is not JSON');
      if ('error' in answer) throw failure(explain, answer.error);
      return answer;
    } catch (error) {
      throw connectionFailure(error, signal);
    }
  }
}

function failure(explain: GatewayTurn['explain'], reported: ReportedError): GatewayFailure {
  const { status, type, message } = reported;
  return new GatewayFailure(explain(reported), new Error(`gateway: ${status ?? 'stream'} ${type}: ${message}`));
}

function connectionFailure(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof GatewayFailure) return error;
  // A cut turn fails with the reason of its signal.
  if (signal.aborted && error === signal.reason) return error;
  return new GatewayFailure({ kind: error instanceof NotConnectedError ? 'not_connected' : 'broken_off' }, error);
}
