document.querySelector("nav").classList.add("with-script");
