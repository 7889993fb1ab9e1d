/** The routes of one agent's pages. Their order is that of the navigation. */
import { createRoute, redirect } from '@tanstack/react-router';
import { appRoute } from '../../frame/app-route.ts';
import { lazyPage } from '../../frame/lazy-page.ts';
import { pathTo } from '../../paths.ts';
import { agentQuery } from './queries.ts';
import {
  Activity,
  AppWindow,
  BookOpen,
  CalendarClock,
  Camera,
  ChartColumn,
  EthernetPort,
  FolderTree,
  Inbox,
  MessageCircle,
  MessagesSquare,
  Plug,
  ScrollText,
  Settings,
  Shield,
  SquareTerminal,
  Users,
  Webhook,
} from 'lucide-react';
import { isKind } from './activity/kinds.ts';
import type { ActivityKind } from './activity/kinds.ts';
import { isChannel, isState } from './messages/filters.ts';
import type { MessageFilters } from './messages/filters.ts';
import { levelNames, sourceNames } from './logs/log-words.ts';
import type { LogLevel, LogSource } from './logs/log-words.ts';
import { channelNames } from './channels/channel-names.ts';
import type { ChannelName } from './channels/channel-names.ts';
import { reportSearchOf } from '../usage/report/search.ts';

/** All that there is of one agent: its header, and its pages below. */
export const agentRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/agents/$agentId',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(agentQuery(params.agentId)),
  component: lazyPage(() => import('./agent-frame.tsx'), 'AgentFrame'),
  errorComponent: lazyPage(() => import('./agent-missing.tsx'), 'AgentMissing'),
});

const agentIndexRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: pathTo('/agents/$agentId/chat', params.agentId), replace: true });
  },
});

interface ChatSearch {
  /** The conversation that is open; none begins one. */
  readonly conversation?: string;
  /** The channel of the conversation, where it is one of a channel. */
  readonly channel?: string;
  /** The member that a new conversation is for. */
  readonly member?: string;
}

const text = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= 256;

const chatRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'chat',
  staticData: { nav: { group: 'Talk', label: 'Chat', Icon: MessageCircle } },
  validateSearch: ({ conversation, channel, member }): ChatSearch => ({
    ...(text(conversation) && { conversation }),
    ...(text(channel) && { channel }),
    ...(text(member) && { member }),
  }),
  component: lazyPage(() => import('./chat/chat-page.tsx'), 'ChatPage'),
});

interface ActivitySearch {
  readonly kind?: ActivityKind;
  /** The model call that is open. */
  readonly call?: string;
}

const activityRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'activity',
  staticData: { nav: { group: 'Talk', label: 'Activity', Icon: Activity } },
  validateSearch: ({ kind, call }): ActivitySearch => ({
    ...(isKind(kind) && { kind }),
    ...(typeof call === 'string' && call !== '' && call.length <= 100 && { call }),
  }),
  component: lazyPage(() => import('./activity/activity-page.tsx'), 'ActivityPage'),
});

const messagesRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'messages',
  staticData: { nav: { group: 'Talk', label: 'Messages', Icon: Inbox } },
  validateSearch: ({ channel, state }): MessageFilters => ({
    ...(isChannel(channel) && { channel }),
    ...(isState(state) && { state }),
  }),
  component: lazyPage(() => import('./messages/messages-page.tsx'), 'MessagesPage'),
});

/** The state of the page that its address holds. */
export interface LogSearch {
  /** This level and the more severe ones. */
  readonly level?: LogLevel;
  readonly source?: LogSource;
  /** A part of the message. */
  readonly q?: string;
  /** The time to read from, in ISO 8601; without one the page follows the log. */
  readonly at?: string;
  /** `1`: long lines are wrapped. */
  readonly wrap?: '1';
}

/** The API takes no longer one. */
const maxSearch = 200;

export const logsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'logs',
  staticData: { nav: { group: 'Machine', label: 'Logs', Icon: ScrollText } },
  validateSearch: (given: Readonly<Record<string, unknown>>): LogSearch => {
    const level = levelNames.find((name) => name === given['level']);
    const source = sourceNames.find((name) => name === given['source']);
    const { q, at } = given;
    return {
      ...(level !== undefined && { level }),
      ...(source !== undefined && { source }),
      ...(typeof q === 'string' && q !== '' && { q: q.slice(0, maxSearch) }),
      ...(typeof at === 'string' && isTime(at) && { at: new Date(at).toISOString() }),
      ...(given['wrap'] === '1' && { wrap: '1' as const }),
    };
  },
  component: lazyPage(() => import('./logs/logs-page.tsx'), 'LogsPage'),
});

const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));

export interface FilesSearch {
  /** The folder that is shown; the workspace itself without one. */
  readonly path?: string;
  /** The file that is open. */
  readonly file?: string;
  /** `source`: a file that has a preview is shown as text. */
  readonly view?: 'source';
}

const maxPath = 4096;

export const filesRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'files',
  staticData: { nav: { group: 'Machine', label: 'Files', Icon: FolderTree } },
  validateSearch: ({ path, file, view }: Readonly<Record<string, unknown>>): FilesSearch => ({
    ...(isPath(path) && { path }),
    ...(isPath(file) && { file }),
    ...(view === 'source' && { view }),
  }),
  component: lazyPage(() => import('./files/files-page.tsx'), 'FilesPage'),
});

/** A path that the API can be asked for: it has no empty names, and none that leads elsewhere. */
const isPath = (path: unknown): path is string =>
  typeof path === 'string' &&
  path.length <= maxPath &&
  path.split('/').every((name) => !['', '.', '..'].includes(name));

export interface TerminalSearch {
  /** `root`: the shell runs as the machine's root. The agent's own user without it. */
  readonly user?: 'root';
}

export const terminalRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'terminal',
  staticData: { nav: { group: 'Machine', label: 'Terminal', Icon: SquareTerminal } },
  validateSearch: ({ user }: Readonly<Record<string, unknown>>): TerminalSearch =>
    user === 'root' ? { user: 'root' } : {},
  component: lazyPage(() => import('./terminal/terminal-page.tsx'), 'TerminalPage'),
});

const browserRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'browser',
  staticData: { nav: { group: 'Machine', label: 'Browser', Icon: AppWindow } },
  component: lazyPage(() => import('./browser/browser-page.tsx'), 'BrowserPage'),
});

const snapshotsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'snapshots',
  staticData: { nav: { group: 'Machine', label: 'Snapshots', Icon: Camera } },
  component: lazyPage(() => import('./snapshots/snapshots-page.tsx'), 'SnapshotsPage'),
});

const membersRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'members',
  staticData: { nav: { group: 'Connect', label: 'Members', Icon: Users } },
  component: lazyPage(() => import('./members/members-page.tsx'), 'MembersPage'),
});

const agentSkillsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'skills',
  staticData: { nav: { group: 'Connect', label: 'Skills', Icon: BookOpen } },
  component: lazyPage(() => import('./skills/skills-page.tsx'), 'AgentSkillsPage'),
});

export const channelsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'channels',
  staticData: { nav: { group: 'Connect', label: 'Channels', Icon: MessagesSquare } },
  validateSearch: (search): { channel?: ChannelName } => {
    const channel = channelNames.find((name) => name === search['channel']);
    return channel === undefined ? {} : { channel };
  },
  component: lazyPage(() => import('./channels/channels-page.tsx'), 'ChannelsPage'),
});

interface SchedulesSearch {
  /** The schedule that is looked at. */
  readonly schedule?: string;
  /** The action on it; `add` is without one. */
  readonly form?: 'add' | 'edit';
}

export const schedulesRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'schedules',
  staticData: { nav: { group: 'Connect', label: 'Schedules', Icon: CalendarClock } },
  validateSearch: ({ schedule, form }): SchedulesSearch => ({
    ...(typeof schedule === 'string' ? { schedule } : {}),
    ...(form === 'add' || form === 'edit' ? { form } : {}),
  }),
  component: lazyPage(() => import('./schedules/schedules-page.tsx'), 'SchedulesPage'),
});

interface ConnectionsSearch {
  /** The connection that is looked at, by its name. */
  readonly connection?: string;
  readonly form?: 'add' | 'edit';
}

export const connectionsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'connections',
  staticData: { nav: { group: 'Connect', label: 'Connections', Icon: Plug } },
  validateSearch: ({ connection, form }): ConnectionsSearch => ({
    ...(typeof connection === 'string' ? { connection } : {}),
    ...(form === 'add' || form === 'edit' ? { form } : {}),
  }),
  component: lazyPage(() => import('./connections/connections-page.tsx'), 'ConnectionsPage'),
});

interface HooksSearch {
  /** The hook that is looked at. */
  readonly hook?: string;
  readonly form?: 'add';
}

export const hooksRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'hooks',
  staticData: { nav: { group: 'Connect', label: 'Hooks', Icon: Webhook } },
  validateSearch: ({ hook, form }): HooksSearch => ({
    ...(typeof hook === 'string' ? { hook } : {}),
    ...(form === 'add' ? { form } : {}),
  }),
  component: lazyPage(() => import('./hooks/hooks-page.tsx'), 'HooksPage'),
});

const egressRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'egress',
  staticData: { nav: { group: 'Connect', label: 'Egress', Icon: Shield } },
  component: lazyPage(() => import('./egress/egress-page.tsx'), 'EgressPage'),
});

const portsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'ports',
  staticData: { nav: { group: 'Connect', label: 'Ports', Icon: EthernetPort } },
  component: lazyPage(() => import('./ports/ports-page.tsx'), 'PortsPage'),
});

const agentUsageRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'usage',
  staticData: { nav: { group: 'Agent', label: 'Usage', Icon: ChartColumn } },
  validateSearch: reportSearchOf,
  component: lazyPage(() => import('./usage/usage-page.tsx'), 'AgentUsagePage'),
});

const settingsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: 'settings',
  staticData: { nav: { group: 'Agent', label: 'Settings', Icon: Settings } },
  component: lazyPage(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
});

export const agentPages = [
  agentIndexRoute,
  chatRoute,
  activityRoute,
  messagesRoute,
  logsRoute,
  filesRoute,
  terminalRoute,
  browserRoute,
  snapshotsRoute,
  membersRoute,
  agentSkillsRoute,
  channelsRoute,
  schedulesRoute,
  connectionsRoute,
  hooksRoute,
  egressRoute,
  portsRoute,
  agentUsageRoute,
  settingsRoute,
] as const;
