/**
 * Who may pass at an agent's address. A published port that is public is for anyone. All else takes an API key that may change
 * agents, for a gateway can do what its agent can; or the cookie of a visit, which a link has begun. A cookie goes with every
 * request a browser makes, whoever had it made: it counts only from the agent's own pages, and for going there.
 */
import { Refusal, networkOf } from '@lodge/domain';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { AgentPage, AgentPortRow, ApiKeyVerifier, Principal } from '@lodge/ports';
import { isHost } from '../identity/csrf.ts';
import { presentedKey, verifyKey } from '../identity/api-key.ts';
import type { Strangers } from '../identity/strangers.ts';
import type { AgentPlaces, AgentUrlSettings } from '../context.ts';
import type { Limits } from '../pipeline/limits/limits.ts';
import { visitTokens } from './cookies.ts';
import { ourKey } from './our-keys.ts';

/** What visits take. */
export interface Visiting {
  readonly places: AgentPlaces;
  readonly limiter: Limits | null;
  readonly strangers: Strangers;
  readonly agentUrl: AgentUrlSettings;
}

/** What letting in takes. The session of a person is not among it: its cookie opens nothing at an agent's address. */
export interface Admitting extends Visiting {
  readonly verifier: ApiKeyVerifier;
}

/** Who was let in. */
export interface Admission {
  readonly accountId: string;
  /** The published port that the page is, where it is one. */
  readonly published: AgentPortRow | null;
  /** For the log. */
  readonly fields: { readonly key_id?: string; readonly visit_id?: string };
  /** Whether it would be let in now, too. */
  readonly still: () => Promise<boolean>;
}

export interface Knock {
  readonly request: IncomingMessage;
  readonly page: AgentPage;
  /** The client's, as a trusted proxy says. */
  readonly address: string;
  readonly isUpgrade: boolean;
}

const scope = 'agents:write';

export async function admit(context: Admitting, knock: Knock): Promise<Admission> {
  const { agentId, port } = knock.page;
  const { limiter, strangers, places } = context;
  const secret = presentedSecret(context, knock);
  const isKnown = secret !== null && strangers.knows(secret);
  const byAddress = async (): Promise<void> => limiter?.byCaller(`address:${networkOf(knock.address)}`);
  // Whether a port is public takes a look-up, which anybody can ask for.
  if (port !== null && !isKnown) await byAddress();
  const published = port === null ? null : await places.ports.find(agentId, port);
  if (!published?.public) {
    const lookUp = (): Promise<Right> => withRight(context, knock);
    const right = secret === null ? await lookUp() : await strangers.run(secret, knock, lookUp);
    return { ...right, published };
  }
  if (isKnown) await byAddress();
  const still = async (): Promise<boolean> => (await places.ports.find(agentId, port!))?.public === true;
  return { accountId: published.accountId, fields: {}, still, published };
}

/** What may let the caller in: cookies of visits, and a key. Null where it brings neither. */
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

/** The visit whose cookie the request brings; null where it brings none, or a key of ours. */
async function byCookie({ places, agentUrl }: Visiting, { request, page, isUpgrade }: Knock): Promise<Right | null> {
  const { headers } = request;
  if (namesOurKey(headers)) return null;
  for (const token of visitTokens(headers.cookie, agentUrl)) {
    const visit = await places.visits.visit(page, token);
    if (visit === null) continue;
    if (!isOfOwnPage(request, isUpgrade)) {
      throw new Refusal('csrf_refused', "This request does not come from the agent's own pages.");
    }
    return {
      accountId: visit.accountId,
      fields: { visit_id: visit.id },
      still: async () => (await places.visits.visit(page, token)) !== null,
    };
  }
  return null;
}

const namesOurKey = ({ authorization, 'x-api-key': key }: IncomingHttpHeaders): boolean =>
  [authorization, key].some((value) => value !== undefined && ourKey.test(String(value)));

/** Headers that carry a key of ours, or were read as one: no guest sees them. Others of these names are the guest's. */
export function keyHeaders({ headers }: IncomingMessage, { fields }: Admission): string[] {
  const readAsKey = headers['x-api-key'] ? 'x-api-key' : 'authorization';
  return ['x-api-key', 'authorization'].filter(
    (name) => (fields.key_id !== undefined && name === readAsKey) || ourKey.test(String(headers[name])),
  );
}

/**
 * What no page can set tells where a request comes from: `Sec-Fetch-Site`, which browsers send over https and to localhost. Where it
 * is not sent, `Origin` or `Referer` tell. A page can have both left out of what it embeds, so what has neither must be a
 * navigation: `Upgrade-Insecure-Requests`, which browsers send with those alone and no page can add unasked.
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
