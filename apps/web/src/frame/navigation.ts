/** The lists of the sidebar, made of what the routes say of themselves, in the tree's order. */
import { useMatches, useRouter } from '@tanstack/react-router';
import type { AnyRoute } from '@tanstack/react-router';
import type { Role } from '../api.ts';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

/** Where a page is listed: in the sidebar, or, for an agent's page, in the agent's own navigation. */
export interface NavEntry {
  readonly label: string;
  readonly Icon: LucideIcon;
  readonly group?: string;
  /** A number beside the label, or nothing. */
  readonly Count?: () => ReactNode;
  /** The only role that sees it. */
  readonly only?: Role;
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    readonly nav?: NavEntry;
  }
}

export interface Destination extends NavEntry {
  readonly to: string;
}

export interface Group {
  readonly label: string;
  readonly destinations: readonly Destination[];
}

const appId = '/app';
export const agentId = '/app/agents/$agentId';

export function useGroups(of: 'account' | 'agent', role: Role): readonly Group[] {
  const router = useRouter();
  return groupsOf(router.routesById as Record<string, AnyRoute>, of === 'agent' ? agentId : appId, role);
}

/** The id of the agent whose pages are open. */
export function useOpenAgent(): string | undefined {
  return useMatches({
    select: (matches) => {
      const match = matches.find(({ routeId }) => (routeId as string) === agentId);
      return match !== undefined && 'agentId' in match.params ? match.params.agentId : undefined;
    },
  });
}

function groupsOf(routes: Readonly<Record<string, AnyRoute>>, parent: string, role: Role): readonly Group[] {
  const groups = new Map<string, Destination[]>();
  for (const route of childrenOf(routes[parent])) {
    const nav = route.options.staticData?.nav;
    if (nav === undefined || (nav.only !== undefined && nav.only !== role)) continue;
    const { group = '' } = nav;
    groups.set(group, [...(groups.get(group) ?? []), { ...nav, to: route.fullPath as string }]);
  }
  return [...groups].map(([label, destinations]) => ({ label, destinations }));
}

const childrenOf = (route: AnyRoute | undefined): readonly AnyRoute[] =>
  route?.children === undefined ? [] : (Object.values(route.children) as AnyRoute[]);
