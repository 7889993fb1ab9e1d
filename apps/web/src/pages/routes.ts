/** The routes of the pages of whoever is signed in. Their order is that of the navigation. */
import { createRoute, redirect } from '@tanstack/react-router';
import {
  BookOpen,
  Bot,
  Gauge,
  House,
  KeyRound,
  MessageCircleQuestion,
  ScrollText,
  Server,
  ShieldCheck,
  SlidersHorizontal,
  Users,
  Webhook,
} from 'lucide-react';
import { appRoute } from '../frame/app-route.ts';
import { lazyPage } from '../frame/lazy-page.ts';
import { allAgents } from './agents/queries.ts';
import { viewOf } from './agents/view.ts';
import { agentPages, agentRoute } from './agent/routes.ts';
import { channelNames } from './agent/channels/channel-names.ts';
import { OpenCount } from './confirmations/open-count.tsx';
import { openConfirmations } from './confirmations/queries.ts';
import type { ChannelName } from './agent/channels/channel-names.ts';
import { queries } from '../queries.ts';
import { providersQuery, sizesQuery } from './create/queries.ts';
import { reportSearchOf } from './usage/report/search.ts';
import { skillsQuery } from './skills/queries.ts';
import { webhookQuery, webhooksQuery } from './webhooks/queries.ts';
import type { DeliveryState } from './webhooks/queries.ts';
import { auditSearchOf } from './audit/search.ts';
import { hostQuery } from './host/queries.ts';
import { authorizationOf } from '../paths.ts';

const homeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/',
  staticData: { nav: { label: 'Home', Icon: House } },
  component: lazyPage(() => import('./home/home-page.tsx'), 'HomePage'),
});

const agentsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/agents',
  staticData: { nav: { label: 'Agents', Icon: Bot } },
  validateSearch: viewOf,
  loader: ({ context }) => void context.queryClient.prefetchQuery({ ...allAgents, staleTime: Infinity }),
  component: lazyPage(() => import('./agents/agents-page.tsx'), 'AgentsPage'),
});

const createAgentRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/agents/new',
  /** `made`: the agent that was just made, while it is not running yet. `pair`: its channel that is paired then. */
  validateSearch: (search): { made?: string; pair?: ChannelName } => {
    const { made, pair } = search;
    const channel = channelNames.find((name) => name === pair);
    if (typeof made !== 'string' || !/^[a-z][a-z0-9]{11}$/.test(made)) return {};
    return { made, ...(channel !== undefined && { pair: channel }) };
  },
  loader: ({ context: { queryClient } }) => {
    for (const query of [providersQuery, sizesQuery]) void queryClient.prefetchQuery(query as typeof sizesQuery);
    void queryClient.prefetchQuery(queries.limits);
  },
  component: lazyPage(() => import('./create/create-page.tsx'), 'CreatePage'),
});

const confirmationsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/confirmations',
  staticData: { nav: { label: 'Confirmations', Icon: MessageCircleQuestion, Count: OpenCount } },
  /** `confirmation`: the one that is open. */
  validateSearch: ({ confirmation }): { confirmation?: string } =>
    typeof confirmation === 'string' && /^[a-z0-9]{1,40}$/.test(confirmation) ? { confirmation } : {},
  loader: ({ context }) => void context.queryClient.prefetchQuery(openConfirmations),
  component: lazyPage(() => import('./confirmations/confirmations-page.tsx'), 'ConfirmationsPage'),
});

/** The owner's link and the guides of before lead here. */
const accountRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account',
  beforeLoad: () => {
    throw redirect({ to: '/', replace: true });
  },
});

const usageRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/usage',
  staticData: { nav: { group: 'Account', label: 'Usage & limits', Icon: Gauge } },
  validateSearch: reportSearchOf,
  loader: ({ context }) => void context.queryClient.prefetchQuery(queries.spend),
  component: lazyPage(() => import('./usage/usage-page.tsx'), 'UsagePage'),
});

const limitsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/limits',
  staticData: { nav: { group: 'Account', label: 'Quotas & rates', Icon: SlidersHorizontal } },
  loader: ({ context }) => void context.queryClient.prefetchQuery(queries.limits),
  component: lazyPage(() => import('./limits/limits-page.tsx'), 'LimitsPage'),
});

const keysRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/keys',
  staticData: { nav: { group: 'Account', label: 'API Keys', Icon: KeyRound } },
  loader: ({ context }) => void context.queryClient.prefetchQuery(queries.keys),
  component: lazyPage(() => import('./keys/keys-page.tsx'), 'KeysPage'),
});

const states: readonly string[] = ['pending', 'delivered', 'failed'] satisfies readonly DeliveryState[];

const webhooksRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/webhooks',
  staticData: { nav: { group: 'Account', label: 'Webhooks', Icon: Webhook } },
  loader: ({ context }) => void context.queryClient.prefetchQuery(webhooksQuery),
  component: lazyPage(() => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});

/** One webhook and its deliveries; in the address is which of them. */
const webhookRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/webhooks/$webhookId',
  validateSearch: ({ state }): { readonly state?: DeliveryState } =>
    typeof state === 'string' && states.includes(state) ? { state: state as DeliveryState } : {},
  loader: ({ context, params }) => void context.queryClient.prefetchQuery(webhookQuery(params.webhookId)),
  component: lazyPage(() => import('./webhooks/webhook-page.tsx'), 'WebhookPage'),
});

const skillsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/skills',
  staticData: { nav: { group: 'Account', label: 'Skills', Icon: BookOpen } },
  loader: ({ context }) => void context.queryClient.prefetchQuery(skillsQuery),
  component: lazyPage(() => import('./skills/skills-page.tsx'), 'SkillsPage'),
});

const auditRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/audit',
  staticData: { nav: { group: 'Account', label: 'Audit log', Icon: ScrollText } },
  validateSearch: auditSearchOf,
  component: lazyPage(() => import('./audit/audit-page.tsx'), 'AuditPage'),
});

const securityRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/security',
  staticData: { nav: { group: 'Account', label: 'Security', Icon: ShieldCheck } },
  loader: ({ context }) => void context.queryClient.prefetchQuery(queries.sessions),
  component: lazyPage(() => import('./security/security-page.tsx'), 'SecurityPage'),
});

const peopleRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/people',
  staticData: { nav: { group: 'Account', label: 'People', Icon: Users, only: 'owner' } },
  component: lazyPage(() => import('./people/people-page.tsx'), 'PeoplePage'),
});

const hostRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/host',
  staticData: { nav: { group: 'Service', label: 'Host', Icon: Server, only: 'owner' } },
  validateSearch: ({ by }: Readonly<Record<string, unknown>>): { by?: 'cost' } => (by === 'cost' ? { by } : {}),
  loader: ({ context }) => void context.queryClient.prefetchQuery(hostQuery),
  component: lazyPage(() => import('./host/host-page.tsx'), 'HostPage'),
});

/** Where a person agrees to what a machine asks for. */
const deviceRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/device',
  validateSearch: (search): { user_code?: string } =>
    typeof search['user_code'] === 'string' ? { user_code: search['user_code'] } : {},
  component: lazyPage(() => import('./consent/device-page.tsx'), 'DevicePage'),
});

/** Where a person agrees to what a program asks for. */
const authorizeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/account/authorize',
  validateSearch: authorizationOf,
  component: lazyPage(() => import('./consent/authorize-page.tsx'), 'AuthorizePage'),
});

export const appPages = [
  homeRoute,
  agentsRoute,
  createAgentRoute,
  confirmationsRoute,
  agentRoute.addChildren(agentPages),
  accountRoute,
  usageRoute,
  limitsRoute,
  keysRoute,
  webhooksRoute,
  webhookRoute,
  skillsRoute,
  auditRoute,
  securityRoute,
  peopleRoute,
  hostRoute,
  deviceRoute,
  authorizeRoute,
] as const;
