import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Toasts } from './components/toasts/toasts.tsx';
import { createAppRouter } from './router.tsx';
import { createQueryClient } from './queries.ts';
import { signInPath, signedOutPath } from './paths.ts';
import './styles.css';
import { restoreTheme } from './theme.ts';

restoreTheme();

const queryClient = createQueryClient(() => {
  const { pathname, searchStr } = router.latestLocation;
  // Several requests find this out at once, and the first has left already.
  if (pathname === signInPath) return;
  void router
    .navigate({ to: signInPath, search: signedOutPath(pathname + searchStr), replace: true })
    .finally(() => queryClient.clear());
});
const router = createAppRouter(queryClient);

const root = document.querySelector('#root');
if (root === null) throw new Error('The page has no root element.');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
);
