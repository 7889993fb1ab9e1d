import { textBounds } from '@lodge/domain';
import { GatewayError, GatewayHttp, errorIn } from '../gateway/calls.ts';
import { parseObject } from '../gateway/json.ts';
import type { ChatOptions, GatewayCallOptions, RuntimeGateway } from '../gateway/calls.ts';
import { gatewayPort } from './config.ts';

/** The HTTP side of one guest's OpenClaw gateway: readiness, admin RPC, chat. */
export class Gateway implements RuntimeGateway {
  private readonly http: GatewayHttp;

  constructor(address: string, token: string) {
    this.http = new GatewayHttp('OpenClaw', `http://${address}:${gatewayPort}`, token);
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
