/**
 * The page of a consent: it says who asks for what, before the browser goes anywhere. Refuses with `link_not_valid` where
 * there is none.
 */
import { Refusal } from '@lodge/domain';
import { bindConsent, deleteConsent, findConsent } from '@lodge/store/channels';
import type { ConsentRow } from '@lodge/store/channels';
import { hashOf, keptIn, randomToken } from './sessions.ts';
import type { ConsentGift, ConsentSessions } from './sessions.ts';

export interface ConsentPage {
  readonly accountId: string;
  readonly agentId: string;
  /** The agent's name, which its owner wrote. */
  readonly agentName: string;
  readonly gift: ConsentGift;
  /** Origin that agreeing leads to. */
  readonly leadsTo: string;
  /** The browser's secret: the one that it has, or a new one. */
  readonly browser: string;
  /** Names the browser's cookie for this consent alone. */
  readonly tag: string;
}

export interface ConsentPages {
  /** Returns the page and changes nothing. `browserOf` gives the value of a tag's cookie. */
  look(pageToken: string, browserOf: (tag: string) => string | null): Promise<ConsentPage>;
  /** Returns the address of the authorization server. The consent belongs to this browser from now on. */
  agree(pageToken: string, browser: string): Promise<string>;
  refuse(pageToken: string, browser: string): Promise<void>;
}

/** The tag of a consent's cookie. Only a holder of its state or its page knows it. */
export const consentTag = (stateHash: Uint8Array): string => Buffer.from(stateHash).toString('hex').slice(0, 16);
export const consentTagOf = (state: string): string => consentTag(hashOf(state));

interface Deps extends ConsentSessions {
  readonly agents: { readonly get: (accountId: string, agentId: string) => Promise<{ readonly name: string }> };
}

export function createConsentPages(deps: Deps): ConsentPages {
  const { database } = deps;
  return {
    async look(pageToken, browserOf) {
      const session = there(await database.repeatable((db) => findConsent(db, hashOf(pageToken))));
      const tag = consentTag(session.stateHash);
      const own = browserOf(tag);
      const { browserHash, accountId, agentId } = session;
      if (browserHash !== null && (own === null || !Buffer.from(browserHash).equals(hashOf(own)))) throw notValid();
      const { name: agentName } = await deps.agents.get(accountId, agentId);
      const { gift, authorizationUrl } = keptIn(deps, session);
      const leadsTo = new URL(authorizationUrl).origin;
      return { accountId, agentId, agentName, gift, leadsTo, browser: own ?? randomToken(), tag };
    },
    async agree(pageToken, browser) {
      const session = there(await database.repeatable((db) => bindConsent(db, hashOf(pageToken), hashOf(browser))));
      return keptIn(deps, session).authorizationUrl;
    },
    refuse: (pageToken, browser) => database.repeatable((db) => deleteConsent(db, hashOf(pageToken), hashOf(browser))),
  };
}

function there(session: ConsentRow | undefined): ConsentRow {
  if (session !== undefined) return session;
  throw notValid();
}

const notValid = (): Refusal =>
  new Refusal(
    'link_not_valid',
    'This consent was used before, has taken too long, or was agreed to in another browser.',
  );
