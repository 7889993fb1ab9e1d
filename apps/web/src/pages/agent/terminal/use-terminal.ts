import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { useEffect, useRef, useState } from 'react';
import { Shell } from './shell.ts';
import type { ShellState } from './shell.ts';
import { openWith, styleDocument } from './style-document.ts';
import { currentTheme, onThemeChange } from './themes.ts';

const scrollback = 5000;

interface TerminalOptions {
  readonly agentId: string;
  readonly user: 'agent' | 'root';
  readonly isReadAloud: boolean;
  /** A link that the person clicked in the output. The text is the guest's. */
  readonly onLink: (url: string) => void;
  /** The person leaves the terminal by the keyboard. */
  readonly onLeave: () => void;
}

/** A terminal in a box of the page, with a shell behind it. */
export function useTerminal({ agentId, user, isReadAloud, onLink, onLeave }: TerminalOptions) {
  const box = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<ShellState>({ kind: 'connecting' });
  const [round, setRound] = useState(0);
  const terminal = useRef<Terminal>(undefined);
  const shell = useRef<Shell>(undefined);
  const handlers = useRef({ onLink, onLeave });
  handlers.current = { onLink, onLeave };

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const opened = openTerminal(element, {
      onLink: (url) => handlers.current.onLink(url),
      onLeave: () => handlers.current.onLeave(),
      onData: (data) => shell.current?.write(data),
      onResize: (cols, rows) => shell.current?.resize(cols, rows),
    });
    terminal.current = opened.terminal;
    return () => {
      terminal.current = undefined;
      opened.close();
    };
  }, []);

  useEffect(() => {
    const screen = terminal.current;
    if (screen === undefined) return;
    const running = new Shell({
      agentId,
      user,
      onState: setState,
      screen: {
        size: () => ({ cols: screen.cols, rows: screen.rows }),
        write: (data) => new Promise((done) => screen.write(data, done)),
      },
    });
    shell.current = running;
    return () => {
      shell.current = undefined;
      running.close();
    };
  }, [agentId, user, round]);

  useEffect(() => {
    if (terminal.current !== undefined) terminal.current.options.screenReaderMode = isReadAloud;
  }, [isReadAloud]);

  return {
    box,
    state,
    again: () => {
      terminal.current?.reset();
      setState({ kind: 'connecting' });
      setRound((before) => before + 1);
      terminal.current?.focus();
    },
    selection: () => terminal.current?.getSelection() ?? '',
    paste: (text: string) => terminal.current?.paste(text),
    focus: () => terminal.current?.focus(),
  };
}

interface Handlers {
  readonly onLink: (url: string) => void;
  readonly onLeave: () => void;
  readonly onData: (data: string) => void;
  readonly onResize: (cols: number, rows: number) => void;
}

function openTerminal(element: HTMLElement, { onLink, onLeave, onData, onResize }: Handlers) {
  const styles = styleDocument();
  const terminal = new Terminal({
    documentOverride: styles.document,
    theme: currentTheme(),
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--font-mono'),
    fontSize: 13,
    lineHeight: 1.25,
    scrollback,
    cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    // Output that has the colour of its background would hide from the person what a copy takes along.
    minimumContrastRatio: 4.5,
    // A link of the output shows its whole address before it opens. Other schemes than http(s) are no links.
    linkHandler: { activate: (_event, url) => onLink(url), allowNonHttpProtocols: false },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  openWith(styles, terminal, element);
  terminal.attachCustomKeyEventHandler((event) => keyPressed(event, terminal, onLeave));
  terminal.onData(onData);
  terminal.onResize(({ cols, rows }) => onResize(cols, rows));
  fit.fit();
  terminal.focus();
  let frame = 0;
  const observer = new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => fit.fit());
  });
  observer.observe(element);
  const stopTheme = onThemeChange(() => (terminal.options.theme = currentTheme()));
  return {
    terminal,
    close: () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
      stopTheme();
      terminal.dispose();
      styles.release();
    },
  };
}

/** Returns whether the terminal gets the key. */
function keyPressed(event: KeyboardEvent, terminal: Terminal, onLeave: () => void): boolean {
  if (!event.ctrlKey || !event.shiftKey || event.altKey || event.type !== 'keydown') return true;
  if (event.code === 'KeyC' && terminal.hasSelection()) {
    event.preventDefault();
    void navigator.clipboard?.writeText(terminal.getSelection());
    return false;
  }
  if (event.code === 'ArrowUp') {
    event.preventDefault();
    onLeave();
    return false;
  }
  // The browser pastes by itself.
  return event.code !== 'KeyV';
}
