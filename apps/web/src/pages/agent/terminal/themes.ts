/** The terminal's colours in both themes of the page, and which of them holds. */
import type { ITheme } from '@xterm/xterm';

const light: ITheme = {
  background: '#ffffff',
  foreground: '#181c1a',
  cursor: '#1b6b50',
  cursorAccent: '#ffffff',
  selectionBackground: '#c7e4d7',
  black: '#181c1a',
  red: '#a8261d',
  green: '#1b6b50',
  yellow: '#764900',
  blue: '#1f4fa3',
  magenta: '#83308f',
  cyan: '#0b6573',
  white: '#595f5b',
  brightBlack: '#595f5b',
  brightRed: '#c2362b',
  brightGreen: '#237a5c',
  brightYellow: '#8a5a06',
  brightBlue: '#2b62c4',
  brightMagenta: '#9a3ea7',
  brightCyan: '#0f7686',
  brightWhite: '#181c1a',
};

const dark: ITheme = {
  background: '#111513',
  foreground: '#e9edeb',
  cursor: '#72cfab',
  cursorAccent: '#111513',
  selectionBackground: '#24513f',
  black: '#29302d',
  red: '#ff9f94',
  green: '#72cfab',
  yellow: '#efc574',
  blue: '#9bbcff',
  magenta: '#e3a5ee',
  cyan: '#7fd6e2',
  white: '#c9d1cc',
  brightBlack: '#8b958f',
  brightRed: '#ffb8b0',
  brightGreen: '#8bdcbc',
  brightYellow: '#f6d699',
  brightBlue: '#b8d0ff',
  brightMagenta: '#edc2f5',
  brightCyan: '#a5e5ee',
  brightWhite: '#ffffff',
};

const systemDark = matchMedia('(prefers-color-scheme: dark)');

export function currentTheme(): ITheme {
  const chosen = document.documentElement.dataset['theme'];
  const isDark = chosen === 'dark' || (chosen !== 'light' && systemDark.matches);
  return isDark ? dark : light;
}

/** Calls back when the person or the system changes the theme; returns how to stop that. */
export function onThemeChange(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  systemDark.addEventListener('change', listener);
  return () => {
    observer.disconnect();
    systemDark.removeEventListener('change', listener);
  };
}
