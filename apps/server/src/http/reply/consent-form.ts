/** The form before a consent says which agent asks, whose it is, what it gets, and where the browser goes. */
import type { ConsentGift, ConsentPage } from '@lodge/engine';
import type { AccountRow } from '@lodge/engine';
import { escaped, pageOf } from './small-page.ts';

interface ConsentFacts {
  readonly page: ConsentPage;
  readonly owner: Pick<AccountRow, 'id' | 'name' | 'email'>;
  /** The person who is signed in here; null: nobody. */
  readonly me: Pick<AccountRow, 'id' | 'name' | 'email'> | null;
  /** The host of this service. */
  readonly host: string;
  readonly csrf: string;
}

export function consentForm({ page, owner, me, host, csrf }: ConsentFacts): string {
  const { agentName, agentId, gift, leadsTo } = page;
  const isOwn = me !== null && me.id === owner.id;
  const here = me === null ? 'You need no account here.' : `You are signed in here as ${nameOf(me)}.`;
  const whose = isOwn
    ? 'The agent is yours.'
    : 'The agent is not yours: agree only if you know its owner and expect this.';
  return pageOf(
    'Give this agent access?',
    `<p>The agent <strong>${escaped(agentName)}</strong> (${escaped(agentId)}) of <strong>${escaped(nameOf(owner))}</strong> ` +
      `at ${escaped(host)} asks for ${escaped(wordsOf(gift))}.</p>` +
      `<p>The owner of the agent decides what it does with this. ${escaped(here)} ${whose}</p>` +
      `<p>If you agree, you go on to ${escaped(leadsTo)}.</p>` +
      `<form method="post"><input type="hidden" name="csrf" value="${escaped(csrf)}">` +
      `<button name="answer" value="agree">Agree and go on</button> ` +
      `<button name="answer" value="refuse">Refuse</button></form>`,
  );
}

const nameOf = ({ name, email }: ConsentFacts['owner']): string => (email === null ? name : `${name} (${email})`);

function wordsOf(gift: ConsentGift): string {
  switch (gift.kind) {
    case 'mailbox':
      return `all mail of ${gift.address ?? 'the mailbox that you choose'}: to read it, to answer it and to change it`;
    case 'connection': {
      const scope = gift.scope === null ? '' : `, with the rights ${gift.scope}`;
      return `the use of its connection ${gift.name} at ${gift.server}, in your name${scope}`;
    }
  }
}
