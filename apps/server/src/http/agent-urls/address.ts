/**
 * Addresses of agents: `<prefix>-<id>.<domain>` is the gateway's, `<port>-<prefix>-<id>.<domain>` a port's of the guest, and
 * `browser-<prefix>-<id>.<domain>` the view of its browser. Each is one label, so that one wildcard of DNS and one certificate cover all of them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { runtimeKinds } from '@lodge/domain';
import type { RuntimeKind } from '@lodge/domain';
import type { AgentUrlSettings } from '../context.ts';
import type { RequestScope } from '../../request-log.ts';

/** The port under which addresses and visits have the view of an agent's browser. No server can listen there. */
export const viewPort = 0;
const viewWord = 'browser';

export interface AgentAddress {
  readonly kind: RuntimeKind;
  readonly id: string;
  /** Null means the gateway, `viewPort` the view of the browser. */
  readonly port: number | null;
}

/** Origin of an agent's address. */
export function originOf({ kind, id, port }: AgentAddress, url: AgentUrlSettings): string {
  const page = port === null ? '' : `${port === viewPort ? viewWord : port}-`;
  const label = `${page}${url.prefixes[kind]}-${id}`;
  return `${url.scheme}://${label}.${url.domain}${url.port === null ? '' : `:${url.port}`}`;
}

/**
 * The target of a Host header: `api` for every host outside the agents' domain, else the agent's address, or `nobody` if it
 * has not exactly that form. The port is ignored, because a tunnel may have another.
 */
export function hostOf(header: string | undefined, url: AgentUrlSettings): AgentAddress | 'api' | 'nobody' {
  const host = (header ?? '').toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
  if (host === url.apiHost || (host !== url.domain && !host.endsWith(`.${url.domain}`))) return 'api';
  const label = host.slice(0, -url.domain.length - 1);
  const [, port, prefix = '', id] = /^(?:([1-9]\d{0,4})-)?([a-z][a-z0-9-]*)-([a-z][a-z0-9]{11})$/.exec(label) ?? [];
  if (id === undefined || Number(port ?? 1) > 65_535) return 'nobody';
  const kindOf = (beginning: string) => runtimeKinds.find((kind) => url.prefixes[kind] === beginning);
  const kind = kindOf(prefix);
  if (kind !== undefined) return { kind, id, port: port === undefined ? null : Number(port) };
  const viewed = prefix.startsWith(`${viewWord}-`) ? kindOf(prefix.slice(viewWord.length + 1)) : undefined;
  return viewed === undefined || port !== undefined ? 'nobody' : { kind: viewed, id, port: viewPort };
}

/** One request at an agent's address. */
export interface AddressRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly upgrade: { readonly socket: Duplex; readonly head: Buffer } | null;
  readonly agent: AgentAddress;
  /** The client's address. */
  readonly address: string;
  readonly scope: RequestScope;
}
