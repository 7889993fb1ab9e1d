import { isJsonObject, textBounds } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import { GatewayError, GatewayHttp } from '../gateway/calls.ts';
import { parseObject } from '../gateway/json.ts';
import type { ChatOptions, GatewayCallOptions, RuntimeGateway } from '../gateway/calls.ts';
import { RuntimeBusy } from '@lodge/ports';
import type { GuestAddress, RuntimeFacts } from '@lodge/ports';
import { guestRuntime, RuntimeWaitError, until, type GuestRuntime } from '../guest-runtime.ts';
import { gatewayPort } from './config.ts';

export type HermesGuest = GuestRuntime<Gateway>;

export function hermesGuest(guest: GuestAddress, token: string): HermesGuest {
  return guestRuntime('Hermes', guest, token, new Gateway(guest, token));
}

/** The facts of a Hermes template that the host stores. */
export interface HermesFacts {
  /** The gateway's key, 64 hexadecimal digits from the host's random source. It gives full power over the guest. */
  readonly token: string;
  /** Whether its guests are configured to pass pictures to the model. */
  readonly pictures: boolean;
}

export function readFacts({ token, pictures = false }: RuntimeFacts): HermesFacts {
  if (typeof token !== 'string') throw new TypeError('the facts of this template are not those of a Hermes template');
  return { token, pictures: pictures === true };
}

/** Returns the Hermes in a guest of a template with these facts. */
export const hermesOf = (guest: GuestAddress, facts: RuntimeFacts): HermesGuest =>
  hermesGuest(guest, readFacts(facts).token);

/** The API server within Hermes's gateway. */
export class Gateway implements RuntimeGateway {
  private readonly http: GatewayHttp;

  constructor({ dial }: Pick<GuestAddress, 'dial'>, token: string) {
    this.http = new GatewayHttp('Hermes', { dial, port: gatewayPort }, token);
  }

  async failing(options: GatewayCallOptions): Promise<string | null> {
    const { status } = await this.http.send('GET', '/health', {}, undefined, options);
    return status === 200 ? null : `HTTP ${status}`;
  }

  /** Returns the number of its turns in progress. */
  async work(options: GatewayCallOptions): Promise<number> {
    const { status, text } = await this.http.send('GET', '/health', {}, undefined, options);
    const { work } = parseObject(text, textBounds.gatewayHealth);
    if (status === 200 && typeof work === 'number') return work;
    throw new GatewayError(status, null, `Hermes did not say what it has in hand (HTTP ${status})`);
  }

  /** Returns the skills that it finds: those of the workspace, then those of the set, a name once. */
  async skills(options: GatewayCallOptions): Promise<readonly Json[]> {
    const { status, text } = await this.http.send('GET', '/v1/skills', {}, undefined, options);
    const { data } = parseObject(text, textBounds.gatewayReply);
    if (status === 200 && Array.isArray(data)) return data.filter(isJsonObject);
    throw new GatewayError(status, null, `Hermes did not say which skills it has (HTTP ${status})`);
  }

  chat(chat: ChatOptions): Promise<string> {
    return this.http.chat({}, chat.model, chat);
  }
}

/** Resolves when no turn is in progress. Commands that the agent left running continue after a freeze as before it. */
export async function awaitIdle(runtime: HermesGuest, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const seen = { work: 0 };
  const wait = { what: 'end its work', timeoutMs, pauseMs: 200, attemptMs: 30_000, signal };
  try {
    await until(runtime, wait, async (options) => {
      seen.work = await runtime.gateway.work(options);
      return seen.work === 0 ? {} : `turns in hand: ${seen.work}`;
    });
  } catch (error) {
    if (!(error instanceof RuntimeWaitError) || seen.work === 0) throw error;
    throw new RuntimeBusy(`Hermes was still at work after ${Math.round(timeoutMs / 1000)} s: ${seen.work} turns`);
  }
}
