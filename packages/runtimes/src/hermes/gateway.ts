import { textBounds } from '@lodge/domain';
import { GatewayError, GatewayHttp } from '../gateway/calls.ts';
import { parseObject } from '../gateway/json.ts';
import type { ChatOptions, GatewayCallOptions, RuntimeGateway } from '../gateway/calls.ts';
import type { GuestAddress } from '@lodge/ports';
import { guestRuntime, type GuestRuntime } from '../guest-runtime.ts';
import { gatewayPort } from './config.ts';

export type HermesGuest = GuestRuntime<Gateway>;

export function hermesGuest(guest: GuestAddress, token: string): HermesGuest {
  return guestRuntime('Hermes', guest, token, new Gateway(guest.address, token));
}

/** The API server within Hermes's gateway. */
export class Gateway implements RuntimeGateway {
  private readonly http: GatewayHttp;

  constructor(address: string, token: string) {
    this.http = new GatewayHttp('Hermes', `http://${address}:${gatewayPort}`, token);
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

  chat(chat: ChatOptions): Promise<string> {
    return this.http.chat({}, chat.model, chat);
  }
}
