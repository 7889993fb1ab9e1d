/**
 * The view of an agent's browser, at an address of its own: a page of ours, and one WebSocket. Nothing of the guest is at this
 * origin but checked pictures and bounded words, so a hostile page in the browser has no way to the viewer's.
 */
import { Places, Refusal } from '@lodge/domain';
import type { Happening } from '@lodge/domain';
import type { Agents, LiveAgent } from '@lodge/engine';
import type { GuestClient } from '@lodge/guest';
import type { GuestAddress } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { AddressRequest } from '../../agent-urls/address.ts';
import type { Admission } from '../../agent-urls/admission.ts';
import { KeptSocket } from '../../guest/kept-socket.ts';
import { ViewSession } from './session.ts';

const maxMessageBytes = 64 * 1024;
const idleMs = 60 * 60_000;
/** Most open views of an agent. */
const perAgent = 4;
const socketPath = '/socket';

const files: Readonly<Record<string, readonly [file: string, type: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/view.js': ['view.js', 'text/javascript; charset=utf-8'],
  '/view.css': ['view.css', 'text/css; charset=utf-8'],
};
const folder = new URL('../page/', import.meta.url);

/** Pictures are drawn from memory: nothing at this origin is loaded but these files. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

interface Needs {
  readonly agents: Pick<Agents, 'get' | 'record'>;
  readonly guestAt: (guest: GuestAddress) => GuestClient;
  readonly closing: AbortSignal;
}

export class BrowserView {
  private readonly needs: Needs;
  private readonly places = new Places({ perName: perAgent });
  private readonly sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
  });

  constructor(needs: Needs) {
    this.needs = needs;
  }

  /** Sends one of the page's files; false when the request is for the WebSocket. The agent need not run for it. */
  async sends({ request, response, upgrade, scope }: AddressRequest, row: AgentRow): Promise<boolean> {
    const path = request.url!.split('?', 1)[0]!;
    if (upgrade !== null && path === socketPath) return false;
    const found = Object.hasOwn(files, path) && upgrade === null ? files[path] : undefined;
    if (found === undefined) throw new Refusal('route_not_found', 'Nothing is at this path.');
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw new Refusal('method_not_allowed', 'The view is read by GET.');
    const [file, type] = found;
    const content = await readFile(new URL(file, folder), 'utf8');
    const body = file === 'index.html' ? content.replaceAll('{{agent}}', escaped(row.name)) : content;
    response.writeHead(200, {
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': 'camera=(), microphone=(), geolocation=(), display-capture=()',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-request-id': scope.fields.request_id,
    });
    response.end(request.method === 'HEAD' ? undefined : body);
    return true;
  }

  /** Serves one view until its socket closes. */
  async serve(call: AddressRequest, admission: Admission, live: LiveAgent, signal: AbortSignal): Promise<void> {
    const { agents, guestAt, closing } = this.needs;
    const { row } = live;
    if (!this.places.take(row.id)) throw new Refusal('agent_unavailable', `An agent has at most ${perAgent} views.`);
    try {
      const socket = await this.accept(call);
      const over = new AbortController();
      const closed = once(over.signal, 'abort');
      const kept = new KeptSocket(
        socket,
        { idleMs, idleWords: 'nobody used the view for too long', closing, ended: new AbortController().signal },
        () => over.abort(new Refusal('agent_unavailable', 'The view was closed.')),
      );
      const by = { actor: admission.actor, address: call.address, requestId: call.scope.fields.request_id };
      const tell = async (change: { readonly seconds: number } | null): Promise<void> => {
        const event: Happening =
          change === null
            ? { type: 'browser.control_released', data: {} }
            : { type: 'browser.control_taken', data: change };
        await agents.record(row.accountId, row.id, event, by);
      };
      const whole = AbortSignal.any([over.signal, signal]);
      const session = new ViewSession({ guest: guestAt(live.guest), tell, signal: whole }, socket, kept);
      await closed;
      session.close();
    } finally {
      this.places.giveBack(row.id);
    }
  }

  private accept({ request, upgrade }: AddressRequest): Promise<WebSocket> {
    const { socket, head } = upgrade!;
    const { 'sec-websocket-key': key = '', 'sec-websocket-version': version } = request.headers;
    return new Promise((resolve, reject) => {
      const failed = (): void => reject(new Refusal('invalid_request', 'This is not a valid request for a WebSocket.'));
      if (socket.destroyed || !socket.writable || !/^[+/0-9A-Za-z]{22}==$/.test(key) || version !== '13')
        return failed();
      socket.once('close', failed);
      this.sockets.handleUpgrade(request, socket, head, (accepted) => {
        socket.off('close', failed);
        resolve(accepted);
      });
    });
  }
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => entities[character]!);
