import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowLeft, Search } from 'lucide-react';
import { agentQuery } from '../pages/agent/queries.ts';
import { OpenNotice } from '../pages/confirmations/open-count.tsx';
import { pathTo } from '../paths.ts';
import { useAccount } from '../session.ts';
import { AccountMenu } from './account-menu.tsx';
import { useGroups, useOpenAgent } from './navigation.ts';
import type { Group } from './navigation.ts';
import { openPalette } from './palette/palette.tsx';

interface SidebarProps {
  readonly onNavigate?: () => void;
}

/** The navigation of the account, or of the agent that is open, and below it the signed-in person. */
export function Sidebar({ onNavigate }: SidebarProps) {
  const { role } = useAccount();
  const agentId = useOpenAgent();
  const groups = useGroups(agentId === undefined ? 'account' : 'agent', role);
  return (
    <div className="flex min-h-0 grow flex-col gap-4">
      <FindButton {...(onNavigate && { onOpen: onNavigate })} />
      <nav aria-label="Main" className="-mx-1 flex min-h-0 grow flex-col gap-4 overflow-y-auto lg:gap-3.5 px-1 pb-1">
        {agentId !== undefined && <OpenNotice {...(onNavigate && { onNavigate })} />}
        {agentId !== undefined && <OpenAgent id={agentId} {...(onNavigate && { onNavigate })} />}
        {groups.map((group) => (
          <NavGroup key={group.label} group={group} {...(agentId && { agentId })} {...(onNavigate && { onNavigate })} />
        ))}
      </nav>
      <AccountMenu />
    </div>
  );
}

const linkLook =
  'flex h-8 scroll-my-6 items-center lg:h-7 gap-2.5 rounded-control px-3 text-muted transition-colors hover:bg-hover hover:text-ink data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent';

function OpenAgent({ id, onNavigate }: SidebarProps & { readonly id: string }) {
  const { data } = useQuery(agentQuery(id));
  return (
    <div className="flex flex-col gap-1">
      <Link to={pathTo('/agents')} onClick={onNavigate} className={linkLook} activeOptions={{ exact: true }}>
        <ArrowLeft aria-hidden className="size-4" />
        All agents
      </Link>
      <p className="truncate px-3 pt-1 font-semibold">
        <bdi>{data?.name ?? ''}</bdi>
      </p>
    </div>
  );
}

function NavGroup({
  group: { label, destinations },
  agentId,
  onNavigate,
}: SidebarProps & { readonly group: Group; readonly agentId?: string }) {
  return (
    <div className="flex flex-col">
      {label !== '' && <p className="px-3 pb-0.5 text-xs font-medium text-muted">{label}</p>}
      <ul className="flex flex-col">
        {destinations.map((destination) => (
          <li key={destination.to}>
            <Link
              to={pathTo(destination.to, agentId)}
              activeOptions={{ exact: destination.to === '/', includeSearch: false }}
              onClick={onNavigate}
              className={linkLook}
            >
              <destination.Icon aria-hidden className="size-4" />
              {destination.label}
              {destination.Count && <destination.Count />}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

const isMac = navigator.platform.startsWith('Mac');

/** Opens the command palette, and shows its key. */
export function FindButton({ onOpen }: { onOpen?: () => void }) {
  return (
    <button
      type="button"
      onClick={() => {
        onOpen?.();
        dispatchEvent(new Event(openPalette));
      }}
      className="flex h-9 items-center gap-2.5 rounded-control border border-line bg-sunken px-3 text-muted transition-colors hover:bg-hover hover:text-ink"
    >
      <Search aria-hidden className="size-4" />
      <span className="grow text-left">Find</span>
      <kbd aria-hidden className="font-mono text-xs">
        {isMac ? '⌘K' : 'Ctrl K'}
      </kbd>
    </button>
  );
}
