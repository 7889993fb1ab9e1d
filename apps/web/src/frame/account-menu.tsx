import { ChevronsUpDown } from 'lucide-react';
import { Suspense, lazy, useState } from 'react';
import type { ComponentProps } from 'react';
import { useAccount } from '../session.ts';

const loadMenu = () => import('./account-menu-list.tsx');
const AccountMenuList = lazy(async () => ({ default: (await loadMenu()).AccountMenuList }));

/** The signed-in person, with the theme and the sign-out. The menu's content is loaded when somebody comes near. */
export function AccountMenu() {
  const [isWanted, setWanted] = useState(false);
  const closed = (
    <AccountButton
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={() => void loadMenu()}
      onFocus={() => void loadMenu()}
      onClick={() => setWanted(true)}
    />
  );
  if (!isWanted) return closed;
  return (
    <Suspense fallback={closed}>
      <AccountMenuList>
        <AccountButton />
      </AccountMenuList>
    </Suspense>
  );
}

function AccountButton(props: ComponentProps<'button'>) {
  const account = useAccount();
  return (
    <button
      type="button"
      {...props}
      className="flex items-center gap-2.5 rounded-control p-2 text-left transition-colors hover:bg-hover data-[state=open]:bg-hover"
    >
      <span
        aria-hidden
        className="flex size-8 shrink-0 items-center justify-center rounded-full bg-accent text-xs font-semibold text-on-accent"
      >
        {initials(account.name)}
      </span>
      <span className="flex min-w-0 grow flex-col">
        <span className="sr-only">Account: </span>
        <span className="truncate font-medium">{account.name}</span>
        <span className="truncate text-xs text-muted">{account.email}</span>
      </span>
      <ChevronsUpDown aria-hidden className="size-4 shrink-0 text-muted" />
    </button>
  );
}

function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  const ends = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return ends
    .map((word) => String.fromCodePoint(word?.codePointAt(0) ?? 0x3f))
    .join('')
    .toUpperCase();
}
