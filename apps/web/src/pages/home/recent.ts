/** The newest events of the account as the home page tells them: each thing that happened once. */
import type { LodgeEvent } from '@lodge/sdk';
import { withoutTurning } from '../../components/markdown/bounds.ts';
import { wordsOf } from '../agent/activity/event-words.ts';
import type { Tone } from '../agent/activity/event-words.ts';

export interface Recent {
  readonly id: string;
  /** The last time that it happened. */
  readonly at: string;
  readonly type: string;
  readonly agentId: string | null;
  readonly title: string;
  readonly detail?: string | undefined;
  readonly tone: Tone;
  /** How often it happened with nothing else between. */
  readonly count: number;
}

const maxName = 100;
const most = 10;

const starts = ['agent.provisioned', 'agent.started', 'agent.restarted', 'agent.recovered', 'agent.error'];
const ends = ['agent.operation_ended'];

/** An arrival or a request is left out once its outcome is told. */
const outcomes: Readonly<Record<string, readonly string[]>> = {
  'agent.start_requested': [...ends, ...starts, 'agent.start_failed'],
  'agent.resume_requested': [...ends, ...starts, 'agent.resumed'],
  'agent.pause_requested': [...ends, 'agent.paused', 'agent.pause_failed'],
  'agent.stop_requested': [...ends, 'agent.stopped', 'agent.stop_failed'],
  'agent.restart_requested': [...ends, ...starts],
  'agent.upgrade_requested': [...ends, 'agent.upgraded', 'agent.upgrade_failed'],
  'agent.restore_requested': [
    ...ends,
    'agent.restored',
    'agent.restore_undone',
    'snapshot.failed',
    'agent.error',
    'agent.start_failed',
  ],
  'agent.starting': [...starts, 'agent.restored', 'agent.restore_undone'],
  'agent.restarting': starts,
  'agent.restoring': ['agent.restored', 'agent.restore_undone', 'agent.error', 'agent.start_failed'],
  'agent.upgrading': ['agent.upgraded', 'agent.upgrade_failed'],
  'schedule.run_asked': ['schedule.ran', 'schedule.failed'],
  'message.received': ['message.answered', 'message.failed'],
  'hook.received': ['hook.answered', 'hook.failed'],
};

/** They happen often and say little here: the audit log has them. */
const leftOut: ReadonlySet<string> = new Set([
  'account.updated',
  'session.created',
  'session.ended',
  'sessions.ended',
  'webhook.updated',
]);

/** `events` are the newest first. */
export function recentOf(events: readonly LodgeEvent[]): readonly Recent[] {
  const told = new Set<string>();
  const recent: Recent[] = [];
  for (const event of events) {
    const { type, agent_id: agentId } = event;
    told.add(`${type} ${agentId}`);
    if (outcomes[type]?.some((outcome) => told.has(`${outcome} ${agentId}`)) === true) continue;
    if (leftOut.has(type)) continue;
    const words = accountWords(event) ?? wordsOf(event);
    const last = recent.at(-1);
    if (last !== undefined && last.agentId === agentId && last.title === words.title) {
      recent[recent.length - 1] = { ...last, count: last.count + 1 };
    } else if (recent.length < most) {
      const { title, detail, tone } = words;
      recent.push({ id: event.id, at: event.created_at, type, agentId, title, detail, tone, count: 1 });
    } else break;
  }
  return recent;
}

type Words = Pick<Recent, 'title' | 'detail' | 'tone'>;

/** Words of an event that belongs to no agent, or to one that is gone. */
function accountWords({ type, data }: LodgeEvent): Words | undefined {
  const name = typeof data['name'] === 'string' ? ` “${withoutTurning(data['name'].slice(0, maxName))}”` : '';
  const reason = typeof data['reason'] === 'string' ? withoutTurning(data['reason'].slice(0, maxName)) : undefined;
  const words: Readonly<Record<string, Words>> = {
    'agent.deleted': { title: 'An agent was deleted', tone: 'plain' },
    'api_key.created': { title: `API key${name} was made`, tone: 'plain' },
    'api_key.revoked': { title: `API key${name} was revoked`, tone: 'plain' },
    'oauth.granted': { title: `Program${name} got access`, tone: 'plain' },
    'oauth.revoked': { title: `Program${name} lost its access`, tone: 'plain' },
    'oauth.reuse_detected': {
      title: `The access of program${name} was revoked: somebody may have a copy of it`,
      tone: 'bad',
    },
    'account.spend_limit_set': { title: 'A spend limit was set or removed', tone: 'plain' },
    'invitation.created': { title: 'Somebody was invited', tone: 'plain' },
    'invitation.ended': { title: 'An invitation was deleted', tone: 'plain' },
    'invitation.accepted': { title: 'Somebody used an invitation', tone: 'good' },
    'password.changed': { title: 'The password was changed', tone: 'plain' },
    'password.reset': { title: 'The password was set by a link', tone: 'warning' },
    'totp.enabled': { title: 'The second factor is on', tone: 'good' },
    'totp.removed': { title: 'The second factor is off', tone: 'warning' },
    'skill.created': { title: `The skill${name} was added`, tone: 'plain' },
    'skill.version_added': { title: `The skill${name} has another version`, tone: 'plain' },
    'skill.deleted': { title: `The skill${name} was deleted`, tone: 'plain' },
    'webhook.created': { title: 'A webhook was made', tone: 'plain' },
    'webhook.removed': { title: 'A webhook was deleted', tone: 'plain' },
    'webhook.disabled': { title: 'A webhook was disabled', detail: reason, tone: 'bad' },
  };
  return words[type];
}
