/** Events in words. Their data may hold what strangers and runtimes wrote: it is bounded here, and rendered as text. */
import type { LodgeEvent } from '@lodge/sdk';
import { withoutTurning } from '../../../components/markdown/bounds.ts';
import { formatUsd } from '../../../format.ts';
import { channelNames, channelTitles } from '../channels/channel-names.ts';
import type { ActivityKind } from './kinds.ts';

export type Tone = 'plain' | 'good' | 'bad' | 'warning';

export interface EventWords {
  readonly kind: ActivityKind;
  readonly title: string;
  /** Why, or what exactly. */
  readonly detail?: string | undefined;
  readonly tone: Tone;
}

type Data = LodgeEvent['data'];
type Teller = (data: Data) => Omit<EventWords, 'kind' | 'tone'> & { readonly tone?: Tone };

const maxChars = 400;

const said = (data: Data, name: string): string | undefined => {
  const value = data[name];
  if (typeof value === 'string' && value !== '') return withoutTurning(value.slice(0, maxChars));
  return typeof value === 'number' ? String(value) : undefined;
};
const listed = (data: Data, name: string): string | undefined => {
  const value = data[name];
  return Array.isArray(value) ? value.slice(0, 30).map(String).join(', ').slice(0, maxChars) : undefined;
};
/** Settings by the API's names, where a name alone says too little. */
const settingNames: Readonly<Record<string, string>> = {
  egress: 'Egress rules',
  lifecycle: 'Sleep',
  llm_keys: 'Keys of models',
  allowed_models: 'Models it may call',
  size: 'Machine',
  metadata: 'Notes',
};
function settingsIn(data: Data): string | undefined {
  const names = listed(data, 'fields')?.split(', ');
  const words = names?.map((name) => settingNames[name] ?? name.replaceAll('_', ' ')).join(', ');
  return words === undefined || words === '' ? undefined : words[0]!.toUpperCase() + words.slice(1).toLowerCase();
}
const channelOf = (data: Data): string => {
  const name = channelNames.find((one) => one === data['channel']);
  return name === undefined ? 'a channel' : channelTitles[name];
};

const causes: Readonly<Record<string, string>> = {
  request: 'Somebody asked for it.',
  idle: 'Nobody needed it.',
  memory: 'The host needed its memory.',
  message: 'A message came.',
  health: 'It did not answer.',
  limit: 'A spend limit was reached.',
};
const because = (data: Data): string | undefined => causes[said(data, 'cause') ?? ''];
const sources: Readonly<Record<string, string>> = {
  clone: 'Made from the template.',
  boot: 'Started from its disk.',
  snapshot: 'With its memory as it was.',
  saved_memory: 'From a snapshot.',
  saved_disk: 'From the disk of a snapshot.',
};
const run =
  (title: string): Teller =>
  (data) => ({
    title,
    detail: [because(data), sources[said(data, 'from') ?? '']].filter(Boolean).join(' ') || undefined,
    tone: 'good',
  });
const why =
  (title: (data: Data) => string, tone: Tone): Teller =>
  (data) => ({ title: title(data), detail: said(data, 'reason') ?? said(data, 'message'), tone });
const named =
  (of: string, does: string, tone: Tone = 'plain'): Teller =>
  (data) =>
    why(() => `${of} “${said(data, 'name') ?? said(data, 'connection') ?? ''}” ${does}`, tone)(data);
/** A snapshot may have no name. */
const snapshot =
  (does: string, tone: Tone = 'plain'): Teller =>
  (data) => {
    const name = said(data, 'name');
    const detail = does === 'was deleted' ? undefined : said(data, 'why');
    return { title: `Snapshot${name === undefined ? '' : ` “${name}”`} ${does}`, detail, tone };
  };
const limit =
  (title: string, tone: Tone): Teller =>
  (data) => {
    const [period, of, spent] = [said(data, 'period'), said(data, 'limit_usd'), said(data, 'spent_usd')];
    const whose = said(data, 'scope') === 'account' ? 'the account’s' : 'the agent’s';
    const amounts = of === undefined || spent === undefined ? '' : `: ${formatUsd(spent)} of ${formatUsd(of)}`;
    return { title, detail: `It is ${whose} limit${period === undefined ? '' : ` (${period})`}${amounts}.`, tone };
  };

const member =
  (does: string): Teller =>
  (data) => ({ title: `Member “${said(data, 'name') ?? ''}” ${does}` });
const channel =
  (does: string): Teller =>
  (data) => ({ title: `${channelOf(data)} ${does}` });
const asked =
  (verb: string): Teller =>
  () => ({ title: `Somebody asked for it to ${verb}` });

const yesOrNo = (data: Data): string => (data['decision'] === 'allow' ? 'Somebody said yes' : 'Somebody said no');
const confirmedEnds: Readonly<Record<string, string>> = {
  done: 'A call that was allowed was made',
  failed: 'A call that was allowed was not made',
  unknown: 'Whether a call that was allowed was made is not known',
};

const tellers: Readonly<Record<string, Teller>> = {
  'agent.created': () => ({ title: 'Created', tone: 'good' }),
  'agent.updated': (data) => ({ title: 'Settings changed', detail: settingsIn(data) }),
  'agent.start_requested': asked('start'),
  'agent.resume_requested': asked('wake up'),
  'agent.pause_requested': asked('fall asleep'),
  'agent.stop_requested': asked('stop'),
  'agent.restart_requested': asked('restart'),
  'agent.upgrade_requested': asked('move to the newest image'),
  'agent.restore_requested': asked('go back to a snapshot'),
  'agent.operation_ended': () => ({ title: 'There was nothing left to do' }),
  'agent.starting': (data) => ({ title: 'Is being started from its disk', detail: because(data) }),
  'agent.restarting': (data) => ({ title: 'Is being restarted', detail: because(data) }),
  'agent.upgrading': (data) => ({ title: 'Is being moved to the newest image', detail: because(data) }),
  'agent.upgraded': (data) => ({ title: 'Runs on the newest image', detail: said(data, 'version'), tone: 'good' }),
  'agent.imported': () => ({ title: 'Was made from an export' }),
  'agent.export_requested': asked('be exported'),
  'agent.exported': () => ({ title: 'Was exported' }),
  'agent.export_failed': why(() => 'Was not exported', 'warning'),
  'agent.resized': () => ({ title: 'Its machine has another size' }),
  'agent.resize_failed': () => ({ title: 'Its machine keeps its size until the next start', tone: 'warning' }),
  'agent.pause_failed': () => ({ title: 'Did not fall asleep', tone: 'warning' }),
  'agent.resume_failed': () => ({ title: 'Did not wake up, and is being started from its disk', tone: 'warning' }),
  'agent.start_failed': why(() => 'Was not started', 'bad'),
  'agent.stop_failed': (data) => ({ title: 'Was not stopped', detail: said(data, 'why'), tone: 'bad' }),
  'agent.upgrade_failed': (data) => ({
    title: 'Was not moved to the newest image',
    detail: said(data, 'why'),
    tone: 'bad',
  }),
  'agent.restoring': (data) => ({ title: 'Is going back to a snapshot', detail: because(data) }),
  'agent.restored': (data) => ({
    title: said(data, 'loaded') === undefined ? 'Starts from a snapshot next' : 'Is as a snapshot of it was',
    tone: 'good',
  }),
  'agent.restore_undone': (data) => ({
    title: 'Did not go back to a snapshot',
    detail: said(data, 'why'),
    tone: 'bad',
  }),
  'agent.forked': () => ({ title: 'Other agents were made from a snapshot of it', tone: 'good' }),
  'agent.gateway_unhealthy': () => ({ title: 'Did not answer, and is being started again', tone: 'bad' }),
  'agent.settings_applied': () => ({ title: 'Changed settings are in effect' }),
  'agent.packages_installed': () => ({ title: 'Packages are installed' }),
  'agent.packages_failed': (data) => ({
    title: 'Packages are not installed',
    detail: said(data, 'message'),
    tone: 'bad',
  }),
  'agent.skills_loaded': () => ({ title: 'The machine has the wanted skills' }),
  'agent.skills_failed': (data) => ({
    title: 'The machine does not have the wanted skills',
    detail: said(data, 'message'),
    tone: 'bad',
  }),
  'agent.skill_put': named('Skill', 'was given to the agent'),
  'agent.skill_removed': named('Skill', 'was taken from the agent'),
  'browser.control_taken': (data) => ({
    title: 'A person controls its browser',
    detail: `For at most ${said(data, 'seconds') ?? '?'} seconds.`,
  }),
  'browser.control_released': () => ({ title: 'It controls its browser again' }),
  'agent.egress_applied': () => ({ title: 'Changed egress rules are in effect' }),
  'agent.member_created': member('was added'),
  'agent.member_updated': member('was changed'),
  'agent.member_deleted': member('was removed'),
  'agent.port_published': (data) => ({
    title: `Port ${said(data, 'port') ?? ''} is published`,
    detail: data['public'] === true ? 'Anybody reaches it.' : 'A key or a link is asked for.',
  }),
  'agent.port_unpublished': (data) => ({ title: `Port ${said(data, 'port') ?? ''} is not published any more` }),
  'agent.provisioned': run('Runs for the first time'),
  'agent.started': run('Started'),
  'agent.restarted': run('Restarted'),
  'agent.recovered': run('Recovered from a failure'),
  'agent.resumed': run('Woke up'),
  'agent.paused': (data) => ({ title: 'Fell asleep', detail: because(data) }),
  'agent.stopped': (data) => ({ title: 'Stopped', detail: because(data) ?? said(data, 'message') }),
  'agent.crashed': why(() => 'Its machine ended by itself', 'bad'),
  'agent.error': why(() => 'It cannot go on', 'bad'),
  'confirmation.requested': (data) => ({
    title: data['kind'] === 'question' ? 'Asks its owner' : 'Waits for a yes',
    detail: said(data, 'on'),
    tone: 'warning',
  }),
  'confirmation.decided': (data) => ({
    title: data['kind'] === 'question' ? 'Its question was answered' : yesOrNo(data),
    detail: said(data, 'on'),
  }),
  'confirmation.expired': (data) => ({ title: 'Nobody decided in time', detail: said(data, 'on') }),
  'confirmation.done': (data) => ({
    title: confirmedEnds[said(data, 'status') ?? ''] ?? 'A call that was allowed is over',
    detail: said(data, 'on'),
    tone: said(data, 'status') === 'done' ? 'good' : 'warning',
  }),
  'usage.limit_warning': limit('Four fifths of a spend limit are used up', 'warning'),
  'usage.limit_reached': limit('A spend limit is reached', 'bad'),
  'channel.configured': channel('was set up'),
  'channel.removed': channel('was removed'),
  'channel.restarted': channel('connects anew'),
  'channel.sender_decided': (data) => ({
    title: `Somebody on ${channelOf(data)} was ${data['approved'] === true ? '' : 'not '}let in`,
    detail: said(data, 'sender_id'),
  }),
  'channel.connected': (data) => ({
    title: `${channelOf(data)} is connected`,
    detail: said(data, 'identity'),
    tone: 'good',
  }),
  'channel.disconnected': why((data) => `${channelOf(data)} is not connected`, 'warning'),
  'channel.pairing_required': why((data) => `${channelOf(data)} waits to be paired`, 'warning'),
  'channel.access_requested': (data) => ({
    title: `Somebody on ${channelOf(data)} asks to be let in`,
    detail: said(data, 'sender_name') ?? said(data, 'sender_id'),
    tone: 'warning',
  }),
  'message.received': (data) => ({ title: `A message came on ${channelOf(data)}` }),
  'message.retried': (data) => ({ title: `A message on ${channelOf(data)} is tried again` }),
  'message.answered': (data) => ({ title: `A message on ${channelOf(data)} was answered`, tone: 'good' }),
  'message.failed': why(
    (data) =>
      said(data, 'state') === 'unknown'
        ? `Whether an answer on ${channelOf(data)} arrived is not known`
        : `A message on ${channelOf(data)} was not answered`,
    'bad',
  ),
  'schedule.created': named('Schedule', 'was made'),
  'schedule.updated': named('Schedule', 'was changed'),
  'schedule.deleted': named('Schedule', 'was deleted'),
  'schedule.run_asked': named('Schedule', 'was asked to run now'),
  'schedule.ran': named('Schedule', 'ran', 'good'),
  'schedule.failed': named('Schedule', 'failed', 'bad'),
  'schedule.missed': named('Schedule', 'left out a time', 'warning'),
  'snapshot.created': snapshot('was saved', 'good'),
  'snapshot.failed': snapshot('was not saved', 'warning'),
  'snapshot.updated': snapshot('was changed'),
  'snapshot.deleted': snapshot('was deleted'),
  'snapshot.damaged': snapshot('is damaged', 'bad'),
  'hook.created': named('Hook', 'was made'),
  'hook.removed': named('Hook', 'was deleted'),
  'hook.received': named('Hook', 'took a message'),
  'hook.answered': named('Hook', 'was answered', 'good'),
  'hook.failed': named('Hook', 'failed', 'bad'),
  'hook.skipped': named('Hook', 'was left out', 'warning'),
  'connection.put': named('Connection', 'was made or changed'),
  'connection.removed': named('Connection', 'was removed'),
  'connection.connected': named('Connection', 'has its consent', 'good'),
  'connection.consent_needed': named('Connection', 'needs a consent', 'warning'),
  'connection.answer_refused': named('Connection', 'answered with its credential, and was refused', 'bad'),
};

const kinds: Readonly<Record<string, ActivityKind>> = {
  agent: 'machine',
  usage: 'spend',
  channel: 'messages',
  message: 'messages',
  schedule: 'schedules',
  snapshot: 'machine',
  hook: 'hooks',
  connection: 'connections',
};

const settings = /^agent\.(?:created|updated|settings_applied|packages_|skills?_|egress_applied|member_|port_)/;

/** A type that this page does not know is told by its name: further types may come. */
export function wordsOf({ type, data }: Pick<LodgeEvent, 'type' | 'data'>): EventWords {
  const kind = settings.test(type) ? 'settings' : (kinds[type.split('.', 1)[0] ?? ''] ?? 'machine');
  const words = tellers[type]?.(data) ?? { title: type.slice(0, 100) };
  return { kind, ...words, tone: words.tone ?? 'plain' };
}
