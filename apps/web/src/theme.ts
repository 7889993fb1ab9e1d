/** Light, dark, or as the system says. Kept in this browser alone; styles.css does the rest. */
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
    // A browser that keeps nothing still shows the theme for as long as the page is open.
  }
}

export function restoreTheme(): void {
  try {
    const stored = localStorage.getItem(storageKey);
    if (stored !== null) document.documentElement.dataset['theme'] = stored;
  } catch {
    // As above.
  }
}
