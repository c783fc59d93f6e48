/** Only the bundler reads style sheets. */
declare module '*.css';
