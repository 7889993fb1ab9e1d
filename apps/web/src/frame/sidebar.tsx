import { Link } from '@tanstack/react-router';
import { useAccount } from '../session.ts';
import { AccountMenu } from './account-menu.tsx';
import { groupsFor } from './navigation.ts';

/** The navigation and, below it, the signed-in person: beside the page, or in the drawer of a narrow screen. */
export function Sidebar({ onNavigate }: { onNavigate?: () => void }) {
  const account = useAccount();
  return (
    <div className="flex min-h-0 grow flex-col justify-between gap-6">
      <nav aria-label="Main" className="flex flex-col gap-6">
        {groupsFor(account.role).map((group) => (
          <div key={group.label} className="flex flex-col gap-1">
            <p className="px-3 pb-1 text-xs font-medium text-muted">{group.label}</p>
            <ul className="flex flex-col gap-0.5">
              {group.destinations.map(({ to, label, Icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    {...(onNavigate === undefined ? {} : { onClick: onNavigate })}
                    className="flex h-9 items-center gap-2.5 rounded-control px-3 text-muted transition-colors hover:bg-hover hover:text-ink data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent"
                  >
                    <Icon aria-hidden className="size-4" />
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <AccountMenu />
    </div>
  );
}
