import { Gauge, KeyRound, ShieldCheck, Users } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { Role } from '../api.ts';

interface Destination {
  readonly to: '/keys' | '/usage' | '/security' | '/people';
  readonly label: string;
  readonly Icon: LucideIcon;
  /** The only role that sees it. */
  readonly only?: Role;
}

interface Group {
  readonly label: string;
  readonly destinations: readonly Destination[];
}

/** The groups of the navigation. A new part of the product is a group here and its routes in router.tsx. */
const groups: readonly Group[] = [
  {
    label: 'Account',
    destinations: [
      { to: '/keys', label: 'API Keys', Icon: KeyRound },
      { to: '/usage', label: 'Usage & limits', Icon: Gauge },
      { to: '/security', label: 'Security', Icon: ShieldCheck },
      { to: '/people', label: 'People', Icon: Users, only: 'owner' },
    ],
  },
];

export function groupsFor(role: Role): readonly Group[] {
  return groups.map((group) => ({
    ...group,
    destinations: group.destinations.filter(({ only }) => only === undefined || only === role),
  }));
}
