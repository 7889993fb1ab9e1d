import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Browsers since spring 2024, which know light-dark() and <dialog>.
const browsers = ['chrome123', 'edge123', 'firefox120', 'safari17.5'];

export default defineConfig({
  base: '/account/',
  plugins: [
    react(),
    tailwindcss(),
    {
      name: 'render-after-theme',
      // The first paint waits for the script that knows the chosen theme: no flash, and no inline script.
      transformIndexHtml: {
        order: 'post',
        handler: (html) => html.replace('<script type="module"', '<script type="module" blocking="render"'),
      },
    },
  ],
  // Nothing is inlined as data into CSS or HTML, so the content security policy can stay at 'self'.
  build: { target: browsers, cssTarget: browsers, assetsInlineLimit: 0, reportCompressedSize: false },
  server: { proxy: { '/v1': 'http://127.0.0.1:8080' } },
});
