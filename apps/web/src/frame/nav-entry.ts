import type { LucideIcon } from 'lucide-react';
import type { Role } from '../api.ts';

/** Where a page is listed: in the sidebar, or, for an agent's page, in the agent's own navigation. */
export interface NavEntry {
  readonly label: string;
  readonly Icon: LucideIcon;
  readonly group?: string;
  /** The only role that sees it. */
  readonly only?: Role;
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    readonly nav?: NavEntry;
  }
}
