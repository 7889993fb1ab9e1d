/**
 * Decides whom an agent's address admits. A public published port is for anyone. Everything else needs an API key that may
 * change agents, because a gateway can do whatever its agent can; or the cookie of a visit, which a link has begun. A
 * browser sends a cookie with every request, whoever caused it: it counts only for requests of the agent's own pages, and
 * for navigations there.
 */
import { Refusal, networkOf } from '@lodge/domain';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { AgentPage, AgentVisits, OwnedPort, PublishedPorts } from '@lodge/engine';
import type { Actor, ApiKeyVerifier, Principal } from '@lodge/ports';
import { isHost } from '../identity/csrf.ts';
import { presentedKey, verifyKey } from '../identity/api-key.ts';
import type { Strangers } from '../identity/strangers.ts';
import type { AgentUrlSettings } from '../context.ts';
import type { Limits } from '../pipeline/limits/limits.ts';
import { visitTokens } from './cookies.ts';
import { ourKey } from './headers.ts';

/** Dependencies of visits. */
export interface Visiting {
  readonly ports: Pick<PublishedPorts, 'find'>;
  readonly visits: Pick<AgentVisits, 'visit' | 'openLink'>;
  readonly limiter: Limits | null;
  readonly strangers: Strangers;
  readonly agentUrl: AgentUrlSettings;
}

/** Dependencies of admission. A person's session is not among them: its cookie opens nothing at an agent's address. */
export interface Admitting extends Visiting {
  readonly verifier: ApiKeyVerifier;
}

/** An admitted caller. */
export interface Admission {
  readonly accountId: string;
  /** The published port of the page, if it is one. */
  readonly published: OwnedPort | null;
  /** The key or account of the caller, for events. */
  readonly actor: Actor;
  /** Fields for the log. */
  readonly fields: { readonly key_id?: string; readonly visit_id?: string };
  /** Whether the caller would still be admitted now. */
  readonly still: () => Promise<boolean>;
}

export interface Knock {
  readonly request: IncomingMessage;
  readonly page: AgentPage;
  /** The client's address, as a trusted proxy reports it. */
  readonly address: string;
  readonly isUpgrade: boolean;
}

const scope = 'agents:write';

export async function admit(context: Admitting, knock: Knock): Promise<Admission> {
  const { agentId, port } = knock.page;
  const { limiter, strangers, ports } = context;
  const secret = presentedSecret(context, knock);
  const isKnown = secret !== null && strangers.knows(secret);
  const byAddress = async (): Promise<void> => limiter?.byCaller(`address:${networkOf(knock.address)}`);
  // Only a look-up shows whether a port is public, and anybody can cause one.
  if (port !== null && !isKnown) await byAddress();
  const published = port === null ? null : await ports.find(agentId, port);
  if (!published?.public) {
    const lookUp = (): Promise<Right> => withRight(context, knock);
    const right = secret === null ? await lookUp() : await strangers.run(secret, knock, lookUp);
    return { ...right, published };
  }
  if (isKnown) await byAddress();
  const still = async (): Promise<boolean> => (await ports.find(agentId, port!))?.public === true;
  const { accountId } = published;
  return { accountId, actor: { kind: 'account', id: accountId }, fields: {}, still, published };
}

/** The secrets that may admit the caller: cookies of visits, and a key. Null if the request has neither. */
function presentedSecret({ agentUrl }: Visiting, { request: { headers } }: Knock): string | null {
  const all = [...visitTokens(headers.cookie, agentUrl), presentedKey(headers) ?? ''].filter((one) => one !== '');
  return all.length > 0 ? all.join(' ') : null;
}

type Right = Omit<Admission, 'published'>;

async function withRight(context: Admitting, knock: Knock): Promise<Right> {
  const { limiter } = context;
  const visitor = await byCookie(context, knock);
  if (visitor) {
    await limiter?.byCaller(`visit:${visitor.fields.visit_id}`);
    return visitor;
  }
  const principal = await byKey(context, knock).catch(async (error: unknown) => {
    await limiter?.byStranger(knock.address);
    throw error;
  });
  await limiter?.byCaller(`api_key:${principal.by.id}`);
  if (!principal.scopes.includes(scope)) {
    throw new Refusal('insufficient_scope', `This API key lacks the scope ${scope}.`);
  }
  const key = presentedKey(knock.request.headers)!;
  return {
    accountId: principal.accountId,
    actor: { kind: 'api_key', id: principal.by.id },
    fields: { key_id: principal.by.id },
    still: async () => typeof (await context.verifier.verify(key)) === 'object',
  };
}

async function byKey({ verifier }: Admitting, { request }: Knock): Promise<Principal> {
  const key = presentedKey(request.headers);
  if (key === null) {
    throw new Refusal(
      'missing_api_key',
      'Open this address by a link (POST /v1/agents/<id>/links), or send an API key in the header X-API-Key.',
    );
  }
  return verifyKey(verifier, key);
}

/** The visit of the request's cookie; null if the request has none, or has a key of Lodge's. */
async function byCookie({ visits, agentUrl }: Visiting, { request, page, isUpgrade }: Knock): Promise<Right | null> {
  const { headers } = request;
  if (namesOurKey(headers)) return null;
  for (const token of visitTokens(headers.cookie, agentUrl)) {
    const visit = await visits.visit(page, token);
    if (visit === null) continue;
    if (!isOfOwnPage(request, isUpgrade)) {
      throw new Refusal('csrf_refused', "This request does not come from the agent's own pages.");
    }
    return {
      accountId: visit.accountId,
      actor: visit.keyId === null ? { kind: 'account', id: visit.accountId } : { kind: 'api_key', id: visit.keyId },
      fields: { visit_id: visit.id },
      still: async () => (await visits.visit(page, token)) !== null,
    };
  }
  return null;
}

const namesOurKey = ({ authorization, 'x-api-key': key }: IncomingHttpHeaders): boolean =>
  [authorization, key].some((value) => value !== undefined && ourKey.test(String(value)));

/**
 * Headers that carry a key of Lodge's, or were read as one: no guest sees them. Other headers of these names are the
 * guest's.
 */
export function keyHeaders({ headers }: IncomingMessage, { fields }: Admission): string[] {
  const readAsKey = headers['x-api-key'] ? 'x-api-key' : 'authorization';
  return ['x-api-key', 'authorization'].filter(
    (name) => (fields.key_id !== undefined && name === readAsKey) || ourKey.test(String(headers[name])),
  );
}

/**
 * Finds a request's origin by headers that no page can set: `Sec-Fetch-Site`, which browsers send over https and to
 * localhost. Without it, `Origin` or `Referer` decide. A page can suppress both in its embedded requests, so a request with
 * neither must be a navigation: `Upgrade-Insecure-Requests`, which browsers send only with those and no page can add.
 */
export function isOfOwnPage({ method, headers }: IncomingMessage, isUpgrade: boolean): boolean {
  const { origin, host, referer } = headers;
  const isOwn = origin !== undefined && isHost(origin, host);
  // Every browser sends it with these.
  if (isUpgrade) return isOwn;
  const isSafe = method === 'GET' || method === 'HEAD';
  const site = headers['sec-fetch-site'];
  if (site === undefined) {
    if (origin !== undefined) return isOwn;
    const isOfOwn = referer !== undefined && isHost(referer, host);
    return isSafe && (isOfOwn || headers['upgrade-insecure-requests'] === '1');
  }
  if (site === 'same-origin' || site === 'none') return true;
  return isSafe && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}
