/** Themes: light, dark, or the system's. Only this browser stores the choice; styles.css does the rest. */
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const storageKey = 'lodge-theme';

export function currentTheme(): Theme {
  const stored = document.documentElement.dataset['theme'];
  return themes.find((theme) => theme === stored) ?? 'system';
}

export function chooseTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
  try {
    localStorage.setItem(storageKey, theme);
  } catch {
    // A browser that stores nothing still shows the theme while the page is open.
  }
}

export function restoreTheme(): void {
  try {
    const stored = localStorage.getItem(storageKey);
    if (stored !== null) document.documentElement.dataset['theme'] = stored;
  } catch {
    // The same applies here.
  }
}
