import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Check, ChevronsUpDown, LogOut } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import { api } from '../api.ts';
import { toast } from '../components/toasts.tsx';
import { explain } from '../messages.ts';
import { useAccount } from '../session.ts';
import { chooseTheme, currentTheme, themes } from '../theme.ts';
import type { Theme } from '../theme.ts';

const item =
  'flex h-9 items-center gap-2.5 rounded-control px-2.5 text-ink outline-none select-none data-highlighted:bg-hover';
const themeLabels: Readonly<Record<Theme, string>> = { system: 'Same as system', light: 'Light', dark: 'Dark' };

/**
 * The signed-in person, with the theme and the sign-out. It is not modal, because a modal menu would inject a style element.
 */
export function AccountMenu() {
  const account = useAccount();
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className="flex items-center gap-2.5 rounded-control p-2 text-left transition-colors hover:bg-hover data-[state=open]:bg-hover">
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
      </DropdownMenu.Trigger>
      <MenuContent />
    </DropdownMenu.Root>
  );
}

function MenuContent() {
  const [theme, setTheme] = useState(currentTheme);
  const signOut = useSignOut();
  return (
    <DropdownMenu.Content
      side="top"
      align="start"
      sideOffset={6}
      className="z-40 w-56 animate-rise rounded-card border border-line bg-raised p-1.5 shadow-float"
    >
      <DropdownMenu.Label className="px-2.5 pt-1 pb-1.5 text-xs font-medium text-muted">Theme</DropdownMenu.Label>
      <DropdownMenu.RadioGroup
        value={theme}
        onValueChange={(value) => {
          chooseTheme(value as Theme);
          setTheme(value as Theme);
        }}
      >
        {themes.map((choice) => (
          <DropdownMenu.RadioItem
            key={choice}
            value={choice}
            onSelect={(event) => event.preventDefault()}
            className={item}
          >
            <span className="grow">{themeLabels[choice]}</span>
            <DropdownMenu.ItemIndicator>
              <Check aria-hidden className="size-4 text-accent" />
            </DropdownMenu.ItemIndicator>
          </DropdownMenu.RadioItem>
        ))}
      </DropdownMenu.RadioGroup>
      <DropdownMenu.Separator className="mx-1 my-1.5 h-px bg-line" />
      <DropdownMenu.Item onSelect={() => signOut()} className={item}>
        <LogOut aria-hidden className="size-4 text-muted" />
        Sign out
      </DropdownMenu.Item>
    </DropdownMenu.Content>
  );
}

function useSignOut(): () => void {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const mutation = useMutation({
    mutationFn: () => api.signOut(),
    onSuccess: async () => {
      await navigate({ to: '/account/sign-in', replace: true });
      queryClient.clear();
    },
    onError: (error) => toast(`Not signed out: ${explain(error)}`),
  });
  return mutation.mutate;
}

function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  const ends = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return ends
    .map((word) => String.fromCodePoint(word?.codePointAt(0) ?? 0x3f))
    .join('')
    .toUpperCase();
}
