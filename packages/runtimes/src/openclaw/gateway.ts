import { textBounds } from '@lodge/domain';
import { GatewayError, GatewayHttp, errorIn } from '../gateway/calls.ts';
import { parseObject } from '../gateway/json.ts';
import type { ChatOptions, GatewayCallOptions, RuntimeGateway } from '../gateway/calls.ts';
import type { GuestAddress, LlmApi, RuntimeFacts } from '@lodge/ports';
import { guestRuntime, type GuestRuntime } from '../guest-runtime.ts';
import { gatewayPort } from './config.ts';

export type OpenclawGuest = GuestRuntime<Gateway>;

export function openclawGuest(guest: GuestAddress, token: string): OpenclawGuest {
  return guestRuntime('OpenClaw', guest, token, new Gateway(guest, token));
}

/** The facts of an OpenClaw template that the host stores. */
export interface OpenclawFacts {
  /** The gateway's token, 64 hexadecimal digits from the host's random source. It gives full power over the guest. */
  readonly token: string;
  /** The suspension in which every clone wakes up. */
  readonly suspensionId: string;
  /** The provider APIs that its guests are configured for. */
  readonly apis: readonly LlmApi[];
  /** Whether its guests have models that take pictures. */
  readonly pictures: boolean;
}

/** The APIs of templates whose facts name none. */
const firstApis: readonly LlmApi[] = ['openai-completions', 'anthropic-messages'];

export function readFacts(facts: RuntimeFacts): OpenclawFacts {
  const { token, suspensionId, apis = firstApis, pictures = false } = facts;
  if (typeof token !== 'string' || typeof suspensionId !== 'string') {
    throw new TypeError('the facts of this template are not those of an OpenClaw template');
  }
  return { token, suspensionId, apis: apis as readonly LlmApi[], pictures: pictures === true };
}

/** Returns the OpenClaw in a guest of a template with these facts. */
export const openclawOf = (guest: GuestAddress, facts: RuntimeFacts): OpenclawGuest =>
  openclawGuest(guest, readFacts(facts).token);

/** The HTTP side of one guest's OpenClaw gateway: readiness, admin RPC, chat. */
export class Gateway implements RuntimeGateway {
  private readonly http: GatewayHttp;

  constructor({ dial }: Pick<GuestAddress, 'dial'>, token: string) {
    this.http = new GatewayHttp('OpenClaw', { dial, port: gatewayPort }, token);
  }

  async failing(options: GatewayCallOptions): Promise<string | null> {
    const reply = await this.http.send('GET', '/readyz', {}, undefined, options);
    if (reply.status === 200) return null;
    const { failing } = parseObject(reply.text, textBounds.gatewayHealth);
    const parts = Array.isArray(failing) ? failing.filter((part) => typeof part === 'string') : [];
    return parts.length > 0 ? parts.join(', ').slice(0, 500) : `HTTP ${reply.status}`;
  }

  /** Makes one admin RPC and resolves with its payload. */
  async rpc(method: string, params: object, options: GatewayCallOptions): Promise<Record<string, unknown>> {
    const reply = await this.http.send('POST', '/api/v1/admin/rpc', {}, { method, params }, options);
    const { ok, payload, error } = parseObject(reply.text, textBounds.gatewayReply);
    if (reply.status === 200 && ok === true && typeof payload === 'object' && payload !== null) {
      return payload as Record<string, unknown>;
    }
    const { code, message } = errorIn(error);
    throw new GatewayError(
      reply.status,
      code,
      `OpenClaw refused ${method} (HTTP ${reply.status}): ${message ?? 'no reason'}`,
    );
  }

  chat(chat: ChatOptions): Promise<string> {
    return this.http.chat(modelHeader(chat.model), defaultAgent, chat);
  }
}

/** The gateway's default agent. OpenClaw takes an agent's name in the place of OpenAI's model. */
const defaultAgent = 'openclaw';

/** Chooses the backend model for the whole turn, including tool rounds and compaction. It needs no allow list. */
export const modelHeader = (model: string): Record<string, string> => ({ 'x-openclaw-model': model });
