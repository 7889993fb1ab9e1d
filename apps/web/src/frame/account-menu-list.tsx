import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { BookOpen, Check, Keyboard, LogOut } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { api } from '../api.ts';
import { toast } from '../components/toasts/toasts.tsx';
import { explain } from '../messages.ts';
import { openKeys } from './palette/palette.tsx';
import { chooseTheme, currentTheme, themes } from '../theme.ts';
import type { Theme } from '../theme.ts';

const item =
  'flex h-9 items-center gap-2.5 rounded-control px-2.5 text-ink outline-none select-none data-highlighted:bg-hover';
const themeLabels: Readonly<Record<Theme, string>> = { system: 'Same as system', light: 'Light', dark: 'Dark' };

/** It comes open, and is not modal, because a modal menu would inject a style element. Its child is its button. */
export function AccountMenuList({ children }: { children: ReactNode }) {
  return (
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
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
      <DropdownMenu.Item asChild className={item}>
        <a href="/docs" target="_blank" rel="noopener">
          <BookOpen aria-hidden className="size-4 text-muted" />
          Documentation
          <span className="sr-only"> (opens in a new tab)</span>
        </a>
      </DropdownMenu.Item>
      <DropdownMenu.Item onSelect={() => void dispatchEvent(new Event(openKeys))} className={item}>
        <Keyboard aria-hidden className="size-4 text-muted" />
        Keyboard shortcuts
      </DropdownMenu.Item>
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
